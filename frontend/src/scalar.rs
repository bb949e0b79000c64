//! Scalar types and constants, and what C's usual conversions make of a comparison:
//! which bits of an object fulfil it. What these rules do not decide is not known.

use crate::site::Comparison;

/// The type of a scalar object, as far as it is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scalar {
    /// An integer; whether plain `char` is signed depends on the machine.
    Integer {
        /// Its size.
        bytes: u8,
        /// Whether it has negative values, if that is sure.
        signed: Option<bool>,
    },
    /// `bool`
    Bool,
    /// A pointer.
    Pointer,
    /// An enumeration: the compiler chooses size and sign.
    Enumeration,
}

/// An integer constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Constant {
    /// Its value.
    pub value: i128,
    /// Its type; `None` for one of several.
    pub kind: Option<IntegerKind>,
}

/// An integer type behind the promotions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IntegerKind {
    /// Its width.
    pub bits: u8,
    /// It has negative values.
    pub signed: bool,
}

/// What a comparison asks of the bits of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitTest {
    /// The bits that count; all of them, if not given.
    pub mask: Option<i128>,
    /// How they compare.
    pub comparison: Comparison,
    /// With what.
    pub operand: i128,
    /// They are compared as a signed number.
    pub signed: bool,
    /// The size of the object, in bytes, where the test depends on it.
    pub size: Option<u8>,
}

impl IntegerKind {
    /// `int`
    pub(crate) const INT: Self = Self {
        bits: 32,
        signed: true,
    };
    /// What a constant of unknown type may be.
    const ALL: [Self; 4] = [
        Self::INT,
        Self {
            bits: 32,
            signed: false,
        },
        Self {
            bits: 64,
            signed: true,
        },
        Self {
            bits: 64,
            signed: false,
        },
    ];

    fn promoted(self) -> Self {
        if self.bits < 32 { Self::INT } else { self }
    }

    fn common(self, other: Self) -> Self {
        let (a, b) = (self.promoted(), other.promoted());
        match a.bits == b.bits {
            true => Self {
                bits: a.bits,
                signed: a.signed && b.signed,
            },
            false if a.bits > b.bits => a,
            false => b,
        }
    }

    pub(crate) fn holds(self, value: i128) -> bool {
        let (least, most) = match self.signed {
            true => (-(1i128 << (self.bits - 1)), (1i128 << (self.bits - 1)) - 1),
            false => (0, (1i128 << self.bits) - 1),
        };
        (least..=most).contains(&value)
    }

    /// The value that a conversion to this type makes of one.
    fn convert(self, value: i128) -> i128 {
        let rest = value & ((1i128 << self.bits) - 1);
        match self.signed && rest >> (self.bits - 1) == 1 {
            true => rest - (1i128 << self.bits),
            false => rest,
        }
    }
}

impl Scalar {
    fn kinds(self) -> Vec<IntegerKind> {
        let kind = |bytes: u8, signed| IntegerKind {
            bits: 8 * bytes,
            signed,
        };
        match self {
            Self::Integer {
                bytes,
                signed: Some(signed),
            } => vec![kind(bytes, signed)],
            Self::Integer {
                bytes,
                signed: None,
            } => vec![kind(bytes, true), kind(bytes, false)],
            Self::Bool => vec![kind(1, false)],
            Self::Pointer | Self::Enumeration => Vec::new(),
        }
    }

    /// The type of a value of this type after it was kept in a variable of another,
    /// if the variable has all bits of it.
    pub(crate) fn kept_in(self, variable: Self) -> Option<Self> {
        use Scalar::Integer;
        match (self, variable) {
            (Integer { bytes: from, .. }, Integer { bytes: to, .. }) if from == to => {
                Some(variable)
            }
            // `a < 5u` of a wider variable is not what it is of the object.
            (from, to) => (from == to).then_some(from),
        }
    }

    /// What a comparison of an object of this type, or of some bits of it, with a
    /// constant asks of its bits; `None` where that is not sure, or no question.
    pub(crate) fn test(
        self,
        mask: Option<Constant>,
        comparison: Comparison,
        operand: Constant,
    ) -> Option<BitTest> {
        let is_equality = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let plain = BitTest {
            mask: None,
            comparison,
            operand: operand.value,
            signed: false,
            size: None,
        };
        match self {
            Self::Pointer => (is_equality && mask.is_none() && operand.value == 0).then_some(plain),
            Self::Enumeration => {
                let fits = (0..=127).contains(&operand.value);
                (is_equality && mask.is_none() && fits).then_some(plain)
            }
            Self::Bool | Self::Integer { .. } => {
                let of = |constant: Constant| match &constant.kind {
                    Some(kind) => vec![*kind],
                    None => IntegerKind::ALL.to_vec(),
                };
                let masks = mask.map_or(vec![None], |mask| {
                    let kinds = of(mask).into_iter();
                    kinds.map(|kind| Some((mask.value, kind))).collect()
                });
                let mut tests = Vec::new();
                for kind in self.kinds() {
                    for &mask in &masks {
                        for constant in of(operand) {
                            tests.push(kind.test(mask, comparison, operand.value, constant));
                        }
                    }
                }
                let first = tests.first().copied().flatten()?;
                // Equal bits are asked for, whatever the type.
                let alike = |test: &Option<BitTest>| {
                    test.is_some_and(|test| {
                        let signed = is_equality || test.signed == first.signed;
                        signed
                            && BitTest {
                                signed: first.signed,
                                ..test
                            } == first
                    })
                };
                tests.iter().all(alike).then_some(first)
            }
        }
    }
}

impl IntegerKind {
    fn test(
        self,
        mask: Option<(i128, Self)>,
        comparison: Comparison,
        operand: i128,
        constant: Self,
    ) -> Option<BitTest> {
        if !constant.holds(operand) {
            return None;
        }
        let size = Some(self.bits / 8);
        let low = 1i128 << self.bits;
        if let Some((mask, kind)) = mask {
            if !kind.holds(mask) || mask < 0 || mask >= low {
                return None;
            }
            let common = self.common(kind).common(constant);
            let operand = common.convert(operand);
            return (0..=mask).contains(&operand).then_some(BitTest {
                mask: Some(mask),
                comparison,
                operand,
                signed: false,
                size,
            });
        }
        let common = self.common(constant);
        let operand = common.convert(operand);
        let test = |operand, signed| {
            Some(BitTest {
                mask: None,
                comparison,
                operand,
                signed,
                size,
            })
        };
        if common.signed || !self.signed {
            return self
                .holds(operand)
                .then(|| test(operand, self.signed))
                .flatten();
        }
        // A negative number becomes one of the largest: the order of the bits.
        let half = 1i128 << (self.bits - 1);
        let wrapped = (1i128 << common.bits) - half;
        match operand {
            _ if operand < half => test(operand, false),
            _ if operand >= wrapped => test(operand & (low - 1), false),
            _ => None,
        }
    }
}

/// A literal, or a word that stands for one, with its type in C.
pub(crate) fn literal(text: &str) -> Option<Constant> {
    let text = text.trim();
    let int = |value| {
        Some(Constant {
            value,
            kind: Some(IntegerKind::INT),
        })
    };
    match text {
        "true" => return int(1),
        "false" | "NULL" | "nullptr" => return int(0),
        _ => {}
    }
    if let Some(positive) = text.strip_prefix('-') {
        let Constant { value, kind } = literal(positive).filter(|_| !positive.starts_with('-'))?;
        return Some(Constant {
            value: kind?.convert(-value),
            kind,
        });
    }
    let value = crate::literal::integer(text).filter(|value| *value >= 0)?;
    if text.starts_with('\'') {
        return (value < 128).then(|| int(value)).flatten();
    }
    let is_decimal = !text.starts_with('0');
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let digits = match is_hex {
        true => text[2..].trim_start_matches(|c: char| c.is_ascii_hexdigit() || c == '\''),
        false => text.trim_start_matches(|c: char| {
            c.is_ascii_alphanumeric() && !"uUlLzZ".contains(c) || c == '\''
        }),
    };
    let suffix = digits.to_ascii_lowercase();
    let unsigned = suffix.contains('u');
    let long = suffix.contains('l') || suffix.contains('z');
    if suffix.chars().any(|c| !"ulz".contains(c)) {
        return None;
    }
    let mut kinds = IntegerKind::ALL.into_iter().filter(|kind| {
        (kind.bits == 64 || !long)
            && (!kind.signed || !unsigned)
            && (kind.signed || unsigned || !is_decimal)
    });
    let kind = kinds.find(|kind| kind.holds(value))?;
    Some(Constant {
        value,
        kind: Some(kind),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(bytes: u8, signed: bool) -> Scalar {
        Scalar::Integer {
            bytes,
            signed: Some(signed),
        }
    }

    /// What the machine that runs this test makes of the comparisons, one value
    /// after the other.
    macro_rules! holds_for {
        ($object:ty, $common:ty, $literal:expr, $value:expr, $test:expr) => {
            let signed = <$object>::MIN != 0;
            let scalar = integer(size_of::<$object>() as u8, signed);
            let constant = literal($literal).unwrap();
            for comparison in Comparison::ALL {
                let Some(test) = scalar.test(None, comparison, constant) else {
                    continue;
                };
                for number in -40000i64..40000 {
                    for value in [
                        number as $object,
                        <$object>::MAX.wrapping_add(number as $object),
                    ] {
                        let truth = comparison.of(value as $common, $value as $common);
                        let kind = IntegerKind {
                            bits: <$object>::BITS as u8,
                            signed: test.signed,
                        };
                        let seen =
                            comparison.of(kind.convert(value as i128), kind.convert(test.operand));
                        assert_eq!(truth, seen, "{value} {} {}", comparison.sign(), $literal);
                        $test += 1;
                    }
                }
            }
        };
    }

    #[test]
    fn comparisons_are_what_the_usual_conversions_make_of_them() {
        let mut tests = 0;
        holds_for!(u8, i32, "100", 100, tests);
        holds_for!(i8, i32, "-1", -1, tests);
        holds_for!(i8, u32, "5u", 5u32, tests);
        holds_for!(i16, u32, "0xffffffff", 0xffff_ffffu32, tests);
        holds_for!(i32, u32, "5u", 5u32, tests);
        holds_for!(i32, u64, "5ul", 5u64, tests);
        holds_for!(i32, i64, "5l", 5i64, tests);
        holds_for!(u32, u32, "-1", u32::MAX, tests);
        holds_for!(u32, i64, "-1l", -1i64, tests);
        holds_for!(i64, i64, "5u", 5i64, tests);
        holds_for!(i64, u64, "5ul", 5u64, tests);
        holds_for!(u64, u64, "-1", u64::MAX, tests);
        assert!(tests > 1_000_000, "{tests}");
    }

    #[test]
    fn what_is_never_or_always_so_is_no_question() {
        let test = |scalar: Scalar, comparison, text: &str| {
            scalar.test(None, comparison, literal(text).unwrap())
        };
        assert_eq!(test(integer(1, false), Comparison::Equal, "-1"), None);
        assert_eq!(test(integer(1, false), Comparison::Less, "300"), None);
        let plain_char = Scalar::Integer {
            bytes: 1,
            signed: None,
        };
        assert_eq!(test(plain_char, Comparison::Less, "100"), None);
        assert!(test(plain_char, Comparison::Equal, "'a'").is_some());
        assert!(test(Scalar::Pointer, Comparison::Equal, "0").is_some());
        assert_eq!(test(Scalar::Pointer, Comparison::Less, "0"), None);
    }

    #[test]
    fn literals_have_the_type_that_c_gives_them() {
        let kind = |text: &str| literal(text).unwrap().kind.map(|k| (k.bits, k.signed));
        assert_eq!(kind("5"), Some((32, true)));
        assert_eq!(kind("5u"), Some((32, false)));
        assert_eq!(kind("0x80000000"), Some((32, false)));
        assert_eq!(kind("2147483648"), Some((64, true)));
        assert_eq!(kind("0x1Full"), Some((64, false)));
        assert_eq!(literal("-1u").unwrap().value, 0xffff_ffff);
        assert_eq!(literal("1.5"), None);
    }
}
