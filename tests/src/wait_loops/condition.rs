//! What a loop compares: an atomic object of some type, cast, kept and calculated with
//! in C's ways, and a constant of some type.

use crate::rng::Rng;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectType {
    /// Its name in C.
    pub name: &'static str,
    /// Its name as an atomic object of C.
    pub atomic: &'static str,
    bits: u32,
    signed: bool,
}

const fn integer(name: &'static str, atomic: &'static str, bits: u32, signed: bool) -> ObjectType {
    ObjectType {
        name,
        atomic,
        bits,
        signed,
    }
}

const INT: ObjectType = integer("int", "atomic_int", 32, true);
const TYPES: [ObjectType; 8] = [
    integer("signed char", "atomic_schar", 8, true),
    integer("unsigned char", "atomic_uchar", 8, false),
    integer("short", "atomic_short", 16, true),
    integer("unsigned short", "atomic_ushort", 16, false),
    INT,
    integer("unsigned int", "atomic_uint", 32, false),
    integer("long", "atomic_long", 64, true),
    integer("unsigned long", "atomic_ulong", 64, false),
];

impl ObjectType {
    fn convert(self, value: i128) -> i128 {
        let rest = value & ((1i128 << self.bits) - 1);
        match self.signed && rest >> (self.bits - 1) == 1 {
            true => rest - (1i128 << self.bits),
            false => rest,
        }
    }

    fn promoted(self) -> Self {
        if self.bits < 32 { INT } else { self }
    }

    /// The type of a calculation with both.
    fn common(self, other: Self) -> Self {
        let (one, two) = (self.promoted(), other.promoted());
        let (narrow, wide) = match one.bits <= two.bits {
            true => (one, two),
            false => (two, one),
        };
        let unsigned = !wide.signed || narrow.bits == wide.bits && !narrow.signed;
        let fits = |kind: &&Self| kind.bits == wide.bits && kind.signed != unsigned;
        *TYPES.iter().find(fits).expect("all wide types are listed")
    }

    /// Values of an object of this type at which conversions differ.
    pub(super) fn values(self) -> Vec<i128> {
        let around = [
            0, 1, 2, 3, 5, 7, 8, 9, 10, 99, 100, 101, 127, 128, 200, 255, 256, 257, 261, 32767,
            32768, 65535, 65536, 65541, 2147483647, 2147483648, 4294967295, 4294967296, 4294967301,
            -1, -2, -5, -100,
        ];
        let mut values: Vec<i128> = around.iter().map(|&value| self.convert(value)).collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

/// What is done with the value before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Plain,
    Cast(ObjectType),
    Kept(ObjectType),
    Returned(ObjectType),
    Plus(i128),
    Masked(i128),
    Negated,
    Truth,
}

/// A comparison of a loaded value.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The type of the atomic object.
    pub object: ObjectType,
    shape: Shape,
    sign: &'static str,
    operand: String,
    operand_value: i128,
    operand_type: ObjectType,
}

impl Condition {
    pub(super) fn random(rng: &mut Rng) -> Self {
        let object = rng.pick(&TYPES);
        let other = rng.pick(&TYPES);
        let shape = match rng.below(16) {
            0..=5 => Shape::Plain,
            6 => Shape::Cast(other),
            7 | 8 => Shape::Kept(other),
            9 => Shape::Kept(object),
            10 => Shape::Plus(rng.pick(&[1, 2, 5])),
            11 => Shape::Masked(rng.pick(&[1, 4, 6, 255])),
            12 => Shape::Returned(other),
            13 => Shape::Returned(object),
            14 => Shape::Negated,
            _ => Shape::Truth,
        };
        let number = rng.pick(&[0i128, 1, 1, 2, 5, 5, 8, 10, 100, 100, 255]);
        let long = integer("long", "atomic_long", 64, true);
        let unsigned = integer("unsigned int", "atomic_uint", 32, false);
        let (operand, operand_value, operand_type) = match rng.below(9) {
            0..=3 => (format!("{number}"), number, INT),
            4 => (format!("{number}u"), number, unsigned),
            5 => (format!("{number}L"), number, long),
            6 => (format!("-{}", number + 1), -number - 1, INT),
            7 => (format!("(1 << {})", number % 10), 1 << (number % 10), INT),
            _ => (format!("(int){number}"), number, INT),
        };
        Self {
            object,
            shape,
            sign: rng.pick(&["==", "!=", "<", "<=", ">", ">=", "=="]),
            operand,
            operand_value,
            operand_type,
        }
    }

    /// Whether the loop is over when this was loaded; nothing where C does not say.
    pub fn ends(&self, loaded: i128) -> Option<bool> {
        let (value, kind) = match self.shape {
            Shape::Plain => (loaded, self.object),
            Shape::Cast(kind) | Shape::Kept(kind) | Shape::Returned(kind) => {
                (kind.convert(loaded), kind)
            }
            Shape::Plus(number) => {
                let kind = self.object.common(INT);
                let sum = loaded + number;
                if kind.signed && kind.convert(sum) != sum {
                    return None;
                }
                (kind.convert(sum), kind)
            }
            Shape::Masked(mask) => {
                let kind = self.object.common(INT);
                (kind.convert(loaded) & mask, kind)
            }
            Shape::Negated => return Some(loaded == 0),
            Shape::Truth => return Some(loaded != 0),
        };
        let common = kind.common(self.operand_type);
        let (left, right) = (common.convert(value), common.convert(self.operand_value));
        Some(match self.sign {
            "==" => left == right,
            "!=" => left != right,
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            _ => left >= right,
        })
    }

    /// The type of a variable that the value is kept in, if it is.
    pub(super) fn variable(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Kept(kind) => Some(kind.name),
            _ => None,
        }
    }

    /// The type that a function gives the value back in, if one loads it.
    pub(super) fn returned(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Returned(kind) => Some(kind.name),
            _ => None,
        }
    }

    /// The condition in C, of what is loaded by an expression or kept in a variable.
    pub(super) fn text(&self, load: &str) -> String {
        let value = match self.shape {
            Shape::Plain | Shape::Kept(_) | Shape::Returned(_) => load.to_owned(),
            Shape::Cast(kind) => format!("({}){load}", kind.name),
            Shape::Plus(number) => format!("{load} + {number}"),
            Shape::Masked(mask) => format!("({load} & {mask})"),
            Shape::Negated => return format!("!{load}"),
            Shape::Truth => return load.to_owned(),
        };
        format!("{value} {} {}", self.sign, self.operand)
    }
}
