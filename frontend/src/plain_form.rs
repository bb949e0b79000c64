//! How macros and functions whose body is one atomic operation access plain objects: by
//! an operation that takes such objects, on nothing but an object that is handed over.
//! Reads definitions; knows nothing of who could call them.

use tree_sitter::Node;

use crate::context::ScanContext;
use crate::found_site::FoundSite;
use crate::site::{SiteOperation, Span};
use crate::source::ParsedFile;
use crate::syntax::{self, MAX_DEPTH, arguments, callee, children};
use crate::vocabulary::rule::PlainForm;
use crate::written_type::{DeclaredType, declared, spelled};

/// The form of a macro with so many parameters besides the object and the value.
pub(crate) fn of_macro(
    found: &FoundSite<'_>,
    parameters: &[String],
    others: usize,
    body: &Span,
    context: &ScanContext<'_>,
) -> Option<PlainForm> {
    let is_store = found.operation == SiteOperation::Store;
    let text = context.file.slice(body);
    let expected = 1 + usize::from(is_store) + others;
    if text.trim_end().ends_with([';', '}']) || parameters.len() != expected {
        return None;
    }
    let is_statement = is_store && is_done_once(found.node, context.file);
    if !is_statement && !is_expression(found.node) {
        return None;
    }
    let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let access = Access::of(found, context)?;
    if access.value.is_some_and(is_cast_without_parentheses) {
        return None;
    }
    let handed = access.handed_over(&names, context.file)?;
    Some(PlainForm {
        object: handed.object,
        takes_address: handed.takes_address,
        value: handed.value,
        only: agreed(&handed.types)?,
        same_type: false,
        takes_const: access.takes_const,
        takes_volatile: access.takes_volatile,
    })
}

/// The form of a macro that accesses an object through a pointer to volatile, and what it
/// does: `(*(const volatile __typeof__(x) *)&(x))`.
pub(crate) fn of_volatile_macro(
    parameters: &[String],
    body: &Span,
    file: &ParsedFile,
) -> Option<(SiteOperation, PlainForm)> {
    let text = file.slice(body);
    if text.trim_end().ends_with([';', '}']) || !text.contains("volatile") {
        return None;
    }
    let tree = file.parse_macro_body(body);
    let statement = the_only_child(tree.root_node())?;
    let is_once = statement.kind() == "do_statement";
    let statement = match is_once {
        true => the_only_child(statement.child_by_field_name("body")?)?,
        false => statement,
    };
    let whole = the_only_child(statement).filter(|_| statement.kind() == "expression_statement")?;
    let whole = syntax::unwrap_parentheses(whole);
    let is_store = whole.kind() == "assignment_expression" && syntax::operator(whole) == "=";
    let (target, value) = match is_store {
        true => (
            whole.child_by_field_name("left")?,
            Some(whole.child_by_field_name("right")?),
        ),
        false => (whole, None),
    };
    let target = syntax::unwrap_parentheses(target);
    let is_behind = target.kind() == "pointer_expression" && syntax::operator(target) == "*";
    let pointer = target
        .child_by_field_name("argument")
        .filter(|_| is_behind)?;
    let cast = syntax::unwrap_parentheses(pointer);
    let cast = cast.child_by_field_name("type")?;
    let is_sound = file.node_text(cast).contains("volatile")
        && parameters.len() == 1 + usize::from(is_store)
        && (!is_once || is_store && is_done_once(whole, file))
        && !value.is_some_and(is_cast_without_parentheses);
    if !is_sound {
        return None;
    }
    let access = Access {
        object: pointer,
        is_address: true,
        value,
        types: Vec::new(),
        takes_const: !is_store,
        takes_volatile: true,
    };
    let names: Vec<&str> = parameters.iter().map(String::as_str).collect();
    let handed = access.handed_over(&names, file)?;
    let form = PlainForm {
        object: handed.object,
        takes_address: handed.takes_address,
        value: handed.value,
        only: agreed(&handed.types)?,
        same_type: false,
        takes_const: access.takes_const,
        takes_volatile: true,
    };
    let operation = match is_store {
        true => SiteOperation::Store,
        false => SiteOperation::Load,
    };
    Some((operation, form))
}

/// Whether a macro casts a value that it does not put into parentheses: a cast binds
/// tighter than most of what a value may be.
fn is_cast_without_parentheses(value: Node<'_>) -> bool {
    let value = syntax::unwrap_parentheses(value);
    let cast = value.child_by_field_name("value");
    let cast = cast.filter(|_| value.kind() == "cast_expression");
    cast.is_some_and(|cast| cast.kind() == "identifier")
}

fn the_only_child(node: Node<'_>) -> Option<Node<'_>> {
    match children(node)[..] {
        [child] => Some(child),
        _ => None,
    }
}

/// The form of a free function.
pub(crate) fn of_function(
    definition: Node<'_>,
    found: &FoundSite<'_>,
    context: &ScanContext<'_>,
) -> Option<PlainForm> {
    let file = context.file;
    if syntax::method_owner(definition, file).is_some() {
        return None;
    }
    let parameters = syntax::parameters(definition, file);
    let is_store = found.operation == SiteOperation::Store;
    if parameters.len() != 1 + usize::from(is_store) {
        return None;
    }
    let names: Vec<&str> = parameters.iter().map(|(name, _)| name.as_str()).collect();
    let access = Access::of(found, context)?;
    let mut handed = access.handed_over(&names, file)?;
    let type_of = |index: usize| {
        let node = parameters[index].1;
        declared(node, node.child_by_field_name("declarator"), file).map(|(_, written)| written)
    };
    let object = type_of(handed.object)?;
    let open = TemplateParameters::of(definition, file)?;
    let is_handed = match handed.takes_address {
        true => object.pointers > 0 && !object.is_reference,
        false => object.is_reference && !object.is_rvalue,
    };
    let own = object.value(usize::from(handed.takes_address))?;
    let value = match handed.value {
        Some(index) => Some(type_of(index)?),
        None => None,
    };
    let bases = [Some(&object), value.as_ref()].into_iter().flatten();
    let bases: Vec<&str> = bases.map(|written| written.base.as_str()).collect();
    if !is_handed || object.arrays > 0 || !open.follow_from(&bases) {
        return None;
    }
    let is_open = open.has(&own);
    let same_type = match &value {
        Some(value) => open.value_must_be_same(value, &own)?,
        None => {
            let returned = returned_type(definition, file)?;
            if returned != own && returned != "auto" && returned != "decltype(auto)" {
                return None;
            }
            false
        }
    };
    handed.types.push(own);
    handed.types.retain(|written| !open.has(written));
    // What a template leaves open must stay open.
    if is_open && !handed.types.is_empty() {
        return None;
    }
    let is_pointer = object.pointers > usize::from(handed.takes_address);
    Some(PlainForm {
        object: handed.object,
        takes_address: handed.takes_address,
        value: handed.value,
        only: agreed(&handed.types)?,
        same_type,
        takes_const: access.takes_const && object.is_const && !is_pointer,
        takes_volatile: access.takes_volatile && object.is_volatile && !is_pointer,
    })
}

/// The operation of a body: what it takes.
struct Access<'t> {
    /// The object, or what leads to it.
    object: Node<'t>,
    /// That is its address.
    is_address: bool,
    value: Option<Node<'t>>,
    /// What the operation itself is made for, and what its result is converted to.
    types: Vec<String>,
    takes_const: bool,
    takes_volatile: bool,
}

/// What of an operation its caller hands over.
struct HandedOver {
    object: usize,
    takes_address: bool,
    value: Option<usize>,
    types: Vec<String>,
}

impl<'t> Access<'t> {
    /// The access of an operation that takes plain objects.
    fn of(found: &FoundSite<'t>, context: &ScanContext<'_>) -> Option<Self> {
        let file = context.file;
        let is_store = match found.operation {
            SiteOperation::Load => false,
            SiteOperation::Store => true,
            _ => return None,
        };
        let argument = |index: usize| found.arguments.get(index).copied();
        let mut access = match &found.rule.as_ref()?.plain {
            Some(inner) => Self {
                object: argument(inner.object)?,
                is_address: inner.takes_address,
                value: inner.value.and_then(argument),
                types: inner.only.iter().cloned().collect(),
                takes_const: inner.takes_const,
                takes_volatile: inner.takes_volatile,
            },
            None if found.callee == "__atomic_load_n" || found.callee == "__atomic_store_n" => {
                Self {
                    object: argument(0)?,
                    is_address: true,
                    value: is_store.then(|| argument(1)).flatten(),
                    types: Vec::new(),
                    takes_const: true,
                    takes_volatile: true,
                }
            }
            None => Self {
                object: referred(found.object?, file)?,
                is_address: false,
                value: is_store.then(|| argument(0)).flatten(),
                types: Vec::new(),
                takes_const: false,
                takes_volatile: false,
            },
        };
        if is_store != access.value.is_some() {
            return None;
        }
        access.types.extend(casts_around(found.node, file));
        Some(access)
    }

    /// Which parameters the object and the value are.
    fn handed_over(&self, parameters: &[&str], file: &ParsedFile) -> Option<HandedOver> {
        let mut types = self.types.clone();
        let number = |node: Node<'_>| {
            let text = file.node_text(node);
            parameters.iter().position(|parameter| *parameter == text)
        };
        let mut node = self.object;
        let mut takes_address = self.is_address;
        let mut object = None;
        for _ in 0..MAX_DEPTH {
            node = syntax::unwrap_parentheses(node);
            node = match node.kind() {
                "identifier" => {
                    object = number(node);
                    break;
                }
                "cast_expression" if takes_address => {
                    types.extend(cast_to(node, file)?.map(|pointer| {
                        let pointee = pointer.strip_suffix('*').unwrap_or("");
                        pointee.to_owned()
                    }));
                    node.child_by_field_name("value")?
                }
                "call_expression" if is_const_cast(node, file) => arguments(node).pop()?,
                "pointer_expression" => {
                    let takes = syntax::operator(node) == "&";
                    if takes != takes_address {
                        return None;
                    }
                    takes_address = !takes;
                    node.child_by_field_name("argument")?
                }
                _ => return None,
            };
        }
        let value = match self.value {
            Some(mut node) => {
                node = syntax::unwrap_parentheses(node);
                if node.kind() == "cast_expression" {
                    types.extend(cast_to(node, file)?);
                    node = syntax::unwrap_parentheses(node.child_by_field_name("value")?);
                }
                Some(number(node)?)
            }
            None => None,
        };
        let object = object.filter(|&object| Some(object) != value)?;
        Some(HandedOver {
            object,
            takes_address,
            value,
            types,
        })
    }
}

/// What a `std::atomic_ref` is made of.
fn referred<'t>(receiver: Node<'t>, file: &ParsedFile) -> Option<Node<'t>> {
    let called = callee(receiver).filter(|_| receiver.kind() == "call_expression")?;
    let arguments = arguments(receiver);
    match arguments[..] {
        [object] if file.node_text(called.name) == "atomic_ref" => Some(object),
        _ => None,
    }
}

fn is_const_cast(call: Node<'_>, file: &ParsedFile) -> bool {
    callee(call).is_some_and(|callee| file.node_text(callee.name) == "const_cast")
}

/// The type that a cast names; `Some(None)` if that is the type of an expression.
fn cast_to(cast: Node<'_>, file: &ParsedFile) -> Option<Option<String>> {
    let text = file.node_text(cast.child_by_field_name("type")?);
    let follows = text.contains("typeof") || text.contains("decltype");
    Some((!follows).then(|| spelled(&text)))
}

/// The types that the casts around an operation name.
fn casts_around(operation: Node<'_>, file: &ParsedFile) -> Vec<String> {
    let parents = std::iter::successors(operation.parent(), Node::parent);
    let dressing = parents
        .take_while(|node| matches!(node.kind(), "parenthesized_expression" | "cast_expression"));
    let casts = dressing.filter(|node| node.kind() == "cast_expression");
    // A cast without a type is none that an object could have.
    casts
        .filter_map(|cast| cast_to(cast, file).unwrap_or(Some(String::new())))
        .collect()
}

/// The one type that all of these are; `Some(None)` if there is none.
fn agreed(types: &[String]) -> Option<Option<String>> {
    let first = types.first();
    let same = types.iter().all(|written| Some(written) == first);
    let is_type = first.is_none_or(|first| !first.is_empty());
    (same && is_type).then(|| first.cloned())
}

/// Whether a body is an expression.
fn is_expression(operation: Node<'_>) -> bool {
    let mut parents = std::iter::successors(operation.parent(), Node::parent);
    parents.all(|node| {
        matches!(
            node.kind(),
            "parenthesized_expression"
                | "cast_expression"
                | "expression_statement"
                | "translation_unit"
        )
    })
}

/// Whether a body is one statement in `do { … } while (0)`.
fn is_done_once(operation: Node<'_>, file: &ParsedFile) -> bool {
    let mut parents = std::iter::successors(operation.parent(), Node::parent);
    let loops = parents.find(|node| node.kind() == "do_statement");
    let condition = loops.and_then(|node| node.child_by_field_name("condition"));
    let is_last = loops
        .and_then(|node| node.parent())
        .is_some_and(|parent| parent.kind() == "translation_unit");
    let condition = condition.map(|condition| syntax::unwrap_parentheses(condition));
    is_last && condition.is_some_and(|never| matches!(&*file.node_text(never), "0" | "false"))
}

/// The type that a function returns; `None` if it is a reference.
fn returned_type(definition: Node<'_>, file: &ParsedFile) -> Option<String> {
    let mut returned = spelled(&file.node_text(definition.child_by_field_name("type")?));
    let mut declarator = definition.child_by_field_name("declarator")?;
    while declarator.kind() == "pointer_declarator" {
        returned.push('*');
        declarator = declarator.child_by_field_name("declarator")?;
    }
    (declarator.kind() == "function_declarator").then_some(returned)
}

/// The types that a template leaves open.
struct TemplateParameters {
    needed: Vec<String>,
}

impl TemplateParameters {
    /// Those of a function; `None` if it has others than types.
    fn of(definition: Node<'_>, file: &ParsedFile) -> Option<Self> {
        let template = definition
            .parent()
            .filter(|parent| parent.kind() == "template_declaration");
        let list = template.and_then(|template| template.child_by_field_name("parameters"));
        let mut needed = Vec::new();
        for parameter in list.map(children).unwrap_or_default() {
            match parameter.kind() {
                "type_parameter_declaration" => {
                    let name = children(parameter).pop()?;
                    needed.push(file.node_text(name).into_owned());
                }
                // It goes without saying.
                "optional_type_parameter_declaration" => {}
                _ => return None,
            }
        }
        Some(Self { needed })
    }

    fn has(&self, name: &str) -> bool {
        self.needed.iter().any(|known| known == name)
    }

    /// Whether parameters of these types say what the open ones are.
    fn follow_from(&self, bases: &[&str]) -> bool {
        self.needed.iter().all(|name| bases.contains(&&**name))
    }

    /// Whether a value must have the type of the object to begin with; `None` if it
    /// cannot be told to become that.
    fn value_must_be_same(&self, value: &DeclaredType, object: &str) -> Option<bool> {
        let written = value.value(0)?;
        let is_copied = !value.is_reference || value.is_const;
        if written == object {
            return is_copied.then(|| self.has(object));
        }
        // `std::type_identity_t<T>` and the like: what the object says of it counts.
        let follows = written.contains("identity") && written.contains(&format!("<{object}>"));
        let is_open = self.has(object) && (self.has(&written) || follows);
        is_open.then_some(false)
    }
}
