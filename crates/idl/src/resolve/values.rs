//! Constant expressions, and expressions over parameters and members.

use super::{Named, Resolver, find};
use crate::model::{Arith, Base, Operand, PointerClass, Type, Value};
use crate::syntax::ast::{Attribute, Expr, ExprKind, TypeKind, TypeSpec};
use crate::text::condition::{apply, decided};
use crate::text::diagnostic::{Diagnostic, most_like};

/// A parameter or member that expressions may name.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Option<Type>,
}

impl Resolver<'_> {
    /// Evaluates a constant expression. Reports an error and returns `None` if the expression has
    /// no value.
    pub(super) fn evaluate(&mut self, expr: &Expr) -> Option<Value> {
        let expr = &self.without_types(expr)?;
        let outcome = self.constant_value(expr, true);
        let value = outcome.map_err(|error| self.report(*error)).ok()?;
        self.check_text_length(&value, expr.span).then_some(value)
    }

    /// Evaluates a constant expression that must be an integer. `None` after an error.
    pub(super) fn evaluate_int(&mut self, expr: &Expr) -> Option<i64> {
        match self.evaluate(expr)? {
            Value::Int(value) => Some(value),
            _ => {
                let error = Diagnostic::error("not-an-integer", expr.span, "an integer is needed here");
                self.report(error);
                None
            }
        }
    }

    /// Returns the value of a constant expression. Overflow and division by zero are not errors in
    /// a part on which the result does not depend.
    fn constant_value(&self, expr: &Expr, is_decisive: bool) -> Result<Value, Box<Diagnostic>> {
        let existing = |value: Option<i64>| {
            let error = || {
                let error = Diagnostic::error("overflow", expr.span, "this value cannot be computed");
                Box::new(error.label("overflow, or division by zero").help("values have 64 bits"))
            };
            value.or_else(|| (!is_decisive).then_some(0)).map(Value::Int).ok_or_else(error)
        };
        Ok(match &expr.kind {
            ExprKind::Int(value) => Value::Int(*value),
            ExprKind::Float(value) => Value::Float(*value),
            ExprKind::Char(c) => Value::Int(i64::from(u32::from(*c))),
            ExprKind::Text(text) => Value::Text(text.clone()),
            ExprKind::Name(name) => match self.values.get(name) {
                Some(known) => known.what.clone(),
                None => return Err(Box::new(self.unknown_value(name, expr))),
            },
            ExprKind::Unary(operator, operand) => match (*operator, self.constant_value(operand, is_decisive)?) {
                ("-", Value::Int(value)) => existing(value.checked_neg())?,
                ("-", Value::Float(value)) => Value::Float(-value),
                ("+", value) => value,
                ("~", Value::Int(value)) => Value::Int(!value),
                ("!", Value::Int(value)) => Value::Int(i64::from(value == 0)),
                _ => return Err(Box::new(not_integers(expr))),
            },
            ExprKind::Binary(operator, left, right) => {
                let left = self.constant_value(left, is_decisive)?;
                let is_decided = matches!(left, Value::Int(value) if decided(operator, value).is_some());
                match (left, self.constant_value(right, is_decisive && !is_decided)?) {
                    (Value::Int(left), Value::Int(right)) => existing(apply(operator, left, right))?,
                    (left, right) => {
                        float_arithmetic(operator, &left, &right).ok_or_else(|| Box::new(not_integers(expr)))?
                    }
                }
            }
            ExprKind::Ternary(condition, yes, no) => match self.constant_value(condition, is_decisive)? {
                Value::Int(condition) => {
                    let yes = self.constant_value(yes, is_decisive && condition != 0)?;
                    let no = self.constant_value(no, is_decisive && condition == 0)?;
                    if condition == 0 { no } else { yes }
                }
                _ => return Err(Box::new(not_integers(condition))),
            },
            // `without_types` has replaced these expressions.
            ExprKind::Cast(..) | ExprKind::SizeOf(..) => return Err(Box::new(not_integers(expr))),
        })
    }

    /// Returns an expression in which casts and `sizeof`, which need types, are replaced by their
    /// values. `None` after an error.
    fn without_types(&mut self, expr: &Expr) -> Option<Expr> {
        self.declare_prelude_in(expr);
        self.typeless(expr)
    }

    fn typeless(&mut self, expr: &Expr) -> Option<Expr> {
        let is_cast = |operator: &str, left: &Expr| matches!(operator, "-" | "+") && self.is_type(left);
        if let ExprKind::Binary(operator, left, right) = &expr.kind
            && is_cast(operator, left)
            && let ExprKind::Name(name) = &left.kind
        {
            // The parser reads a cast of a signed number, such as `(T) -1`, as a subtraction.
            let sign = if operator == "-" { "-" } else { "+" };
            let value = Expr { kind: ExprKind::Unary(sign, right.clone()), span: right.span };
            let spec = TypeSpec { kind: TypeKind::Named(name.clone()), constant: false, span: left.span };
            return self.cast(&spec, 0, &value);
        }
        let mut of = |inner: &Expr| self.typeless(inner).map(Box::new);
        let kind = match &expr.kind {
            ExprKind::Unary(operator, inner) => ExprKind::Unary(operator, of(inner)?),
            ExprKind::Binary(operator, left, right) => ExprKind::Binary(operator.clone(), of(left)?, of(right)?),
            ExprKind::Ternary(condition, yes, no) => ExprKind::Ternary(of(condition)?, of(yes)?, of(no)?),
            ExprKind::SizeOf(spec, stars) => ExprKind::Int(self.size_of(spec, *stars)?),
            ExprKind::Cast(spec, stars, inner) => return self.cast(spec, *stars, inner),
            kind => kind.clone(),
        };
        Some(Expr { kind, span: expr.span })
    }

    /// Whether an expression is the name of a type, and of no value.
    fn is_type(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(name) if self.types.contains_key(name) && !self.values.contains_key(name))
    }

    fn size_of(&mut self, spec: &TypeSpec, stars: u8) -> Option<i64> {
        if stars > 0 || matches!(spec.kind, TypeKind::Automation("BSTR") | TypeKind::SafeArray(..)) {
            return Some(i64::from(Base::U64.size()));
        }
        if matches!(spec.kind, TypeKind::Automation(_)) {
            return Some(VARIANT_SIZE);
        }
        let ty = self.spec_type(spec, None)?;
        let is_interface = |name: &String| {
            matches!(self.types.get(name).map(|known| &known.what), Some(Named::Interface(_) | Named::IUnknown))
        };
        if matches!(&spec.kind, TypeKind::Named(name) if is_interface(name)) {
            let error = Diagnostic::error("not-an-integer", spec.span, "an interface has no size");
            self.report(error.help("write `*` behind it for the size of a pointer"));
            return None;
        }
        self.check_complete(&ty, spec.span).then(|| i64::from(self.model.layout(&ty).0))
    }

    /// Returns the value of a cast. `None` after an error. In an expression over parameters or
    /// members, a cast to an unsigned type keeps the bits of that type, and a cast to a signed type
    /// has no effect.
    fn cast(&mut self, spec: &TypeSpec, stars: u8, inner: &Expr) -> Option<Expr> {
        let inner = self.typeless(inner)?;
        let base = match self.spec_type(spec, None)? {
            Type::Base(base) if stars == 0 => base,
            _ => return Some(inner),
        };
        let kind = match (self.constant_value(&inner, false), base) {
            (Ok(Value::Int(value)), Base::F32 | Base::F64) => ExprKind::Float(value as f64),
            (Ok(Value::Int(value)), base) if base.is_integer() || base == Base::Hresult => {
                ExprKind::Int(truncated(value, base))
            }
            (Ok(Value::Float(value)), base) if base.is_integer() => ExprKind::Int(truncated(value as i64, base)),
            (Err(_), Base::Byte | Base::Char | Base::U8) => masked(&inner, u8::MAX.into()),
            (Err(_), Base::WChar | Base::U16) => masked(&inner, u16::MAX.into()),
            (Err(_), Base::U32) => masked(&inner, u32::MAX.into()),
            _ => return Some(inner),
        };
        Some(Expr { kind, span: inner.span })
    }

    fn unknown_value(&self, name: &str, expr: &Expr) -> Diagnostic {
        let error = Diagnostic::error("unknown-value", expr.span, format!("no constant is called `{name}`"));
        match self.most_similar(name, self.values.keys().map(String::as_str)) {
            Some(like) => error.help(format!("did you mean `{like}`?")),
            None => error.help("declare it above with `const`, `enum` or `#define`"),
        }
    }

    /// Resolves an expression over parameters or members, as in `size_is(n * 2)`. `None` after an
    /// error.
    pub(super) fn arith(&mut self, expr: &Expr, variables: &[Variable], of: &str) -> Option<Arith> {
        let expr = &self.without_types(expr)?;
        let outcome = self.arith_value(expr, variables, of);
        outcome.map_err(|error| self.report(*error)).ok()
    }

    fn arith_value(&self, expr: &Expr, variables: &[Variable], of: &str) -> Result<Arith, Box<Diagnostic>> {
        // Any subexpression without variables is a constant.
        if let ExprKind::Name(name) = &expr.kind
            && let Some(index) = variables.iter().position(|variable| variable.name == *name)
        {
            return operand(&variables[index], index, false, expr);
        }
        Ok(match &expr.kind {
            ExprKind::Unary("*", pointer) => match &pointer.kind {
                ExprKind::Name(name) => {
                    let index = variables.iter().position(|variable| variable.name == *name);
                    let index = index.ok_or_else(|| Box::new(unknown_variable(name, pointer, variables, of)))?;
                    return operand(&variables[index], index, true, expr);
                }
                _ => return Err(Box::new(not_integers(expr))),
            },
            ExprKind::Unary("+", inner) => self.arith_value(inner, variables, of)?,
            ExprKind::Unary(operator, inner) => {
                let inner = match *operator {
                    "!" => self.truth(inner, variables, of)?,
                    _ => self.arith_value(inner, variables, of)?,
                };
                match (inner, *operator) {
                    (Arith::Const(value), "-") => Arith::Const(value.wrapping_neg()),
                    (Arith::Const(value), "~") => Arith::Const(!value),
                    (inner, operator) => Arith::Unary(operator, Box::new(inner)),
                }
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.arith_value(left, variables, of)?, self.arith_value(right, variables, of)?);
                if let (Arith::Const(left), Arith::Const(right)) = (&left, &right) {
                    let error = Diagnostic::error("overflow", expr.span, "this value cannot be computed");
                    return Ok(Arith::Const(apply(operator, *left, *right).ok_or_else(|| Box::new(error))?));
                }
                if operator == "&"
                    && let (Arith::Operand(operand), Arith::Const(mask)) = (&left, &right)
                    && [i64::from(u8::MAX), i64::from(u16::MAX), i64::from(u32::MAX)].contains(mask)
                    && operand.base.range().is_some_and(|(least, most)| least >= 0 && most <= i128::from(*mask))
                {
                    // The mask has no effect: it comes from a cast to a type that holds every value
                    // of the operand.
                    return Ok(left);
                }
                Arith::Binary(operator.clone(), Box::new(left), Box::new(right))
            }
            ExprKind::Ternary(condition, yes, no) => Arith::Ternary(
                Box::new(self.truth(condition, variables, of)?),
                Box::new(self.arith_value(yes, variables, of)?),
                Box::new(self.arith_value(no, variables, of)?),
            ),
            ExprKind::Name(name) if !self.values.contains_key(name) => {
                return Err(Box::new(unknown_variable(name, expr, variables, of)));
            }
            _ => match self.constant_value(expr, true)? {
                Value::Int(value) => Arith::Const(value),
                _ => return Err(Box::new(not_integers(expr))),
            },
        })
    }

    /// Resolves a condition. A pointer as a condition is true, because the pointer is assumed not
    /// to be null.
    fn truth(&self, expr: &Expr, variables: &[Variable], of: &str) -> Result<Arith, Box<Diagnostic>> {
        match tested_pointer(expr, variables) {
            true => Ok(Arith::Const(1)),
            false => self.arith_value(expr, variables, of),
        }
    }
}

/// Returns the expressions that determine numbers of elements and the arm of a union.
fn sizes(attributes: &[Attribute]) -> impl Iterator<Item = &Expr> {
    let sizes = ["size_is", "max_is", "length_is", "switch_is"].iter().filter_map(|name| find(attributes, name));
    sizes.flat_map(|one| one.arguments.iter().flatten())
}

/// Whether `is_wanted` is true for an expression or for a part of it.
fn has_part(expr: &Expr, is_wanted: &impl Fn(&Expr) -> bool) -> bool {
    let inner = |part: &Expr| has_part(part, is_wanted);
    is_wanted(expr)
        || match &expr.kind {
            ExprKind::Unary(_, operand) | ExprKind::Cast(_, _, operand) => inner(operand),
            ExprKind::Binary(_, left, right) => inner(left) || inner(right),
            ExprKind::Ternary(condition, yes, no) => [condition, yes, no].into_iter().any(|part| inner(part)),
            _ => false,
        }
}

/// Whether the number of elements, or the arm of a union, depends on whether a pointer is null:
/// `p ? *p : n` or `!p`.
pub(super) fn sizes_test_for_null(attributes: &[Attribute], variables: &[Variable]) -> bool {
    let is_test = |expr: &Expr| match &expr.kind {
        ExprKind::Unary("!", tested) | ExprKind::Ternary(tested, ..) => tested_pointer(tested, variables),
        _ => false,
    };
    sizes(attributes).any(|size| has_part(size, &is_test))
}

/// Whether the number of elements, or the arm of a union, depends on what a pointer leads to.
pub(super) fn sizes_dereference(attributes: &[Attribute]) -> bool {
    let is_dereference = |expr: &Expr| matches!(expr.kind, ExprKind::Unary("*", _));
    sizes(attributes).any(|size| has_part(size, &is_dereference))
}

/// Whether an expression is the name of a pointer.
fn tested_pointer(expr: &Expr, variables: &[Variable]) -> bool {
    let ExprKind::Name(name) = &expr.kind else { return false };
    variables.iter().any(|variable| variable.name == *name && matches!(variable.ty, Some(Type::Pointer(_))))
}

/// The size of a VARIANT in memory, in bytes.
const VARIANT_SIZE: i64 = 24;

fn masked(inner: &Expr, mask: i64) -> ExprKind {
    let mask = Expr { kind: ExprKind::Int(mask), span: inner.span };
    ExprKind::Binary("&".to_owned(), Box::new(inner.clone()), Box::new(mask))
}

/// Returns the value that a variable of the type has after `value` was assigned to it.
fn truncated(value: i64, base: Base) -> i64 {
    match base {
        Base::I8 => i64::from(value as i8),
        Base::Byte | Base::Char | Base::U8 => i64::from(value as u8),
        Base::I16 => i64::from(value as i16),
        Base::WChar | Base::U16 => i64::from(value as u16),
        Base::I32 | Base::Hresult => i64::from(value as i32),
        Base::U32 => i64::from(value as u32),
        Base::Boolean => i64::from(value != 0),
        _ => value,
    }
}

fn operand(variable: &Variable, index: usize, deref: bool, expr: &Expr) -> Result<Arith, Box<Diagnostic>> {
    let name = &variable.name;
    let wrong = |help: String| {
        let error = Diagnostic::error("not-an-integer", expr.span, format!("`{name}` is not an integer"));
        Err(Box::new(error.help(help)))
    };
    // The error for an unresolved type has already been reported.
    let Some(ty) = &variable.ty else {
        return Ok(Arith::Const(0));
    };
    let (inner, pointer) = match ty {
        Type::Pointer(pointer) if pointer.class != PointerClass::Full => (&pointer.to, true),
        ty => (ty, false),
    };
    let base = match inner {
        Type::Base(base) if base.is_integer() => *base,
        Type::Enum(_) => Base::I32,
        _ => {
            return wrong("sizes, lengths and discriminants are integers or enumerations".to_owned());
        }
    };
    match (pointer, deref) {
        (true, false) => wrong(format!("it is a pointer: write `*{name}`")),
        (false, true) => wrong(format!("it is not a pointer: write `{name}`")),
        _ => Ok(Arith::Operand(Operand { index, deref, base })),
    }
}

/// Returns the message that a declaration has no variable of this name.
fn unknown_in(of: &str, name: &str) -> String {
    let what = match of {
        "the method" => "parameter",
        "the structure" => "member",
        _ => "variable",
    };
    format!("{of} has no {what} `{name}`")
}

fn unknown_variable(name: &str, expr: &Expr, variables: &[Variable], of: &str) -> Diagnostic {
    let error = Diagnostic::error("unknown-value", expr.span, unknown_in(of, name));
    match most_like(name, variables.iter().map(|variable| variable.name.as_str())) {
        Some(like) => error.help(format!("did you mean `{like}`?")),
        None => error.help("the expression may use parameters or members beside it, and constants"),
    }
}

fn not_integers(expr: &Expr) -> Diagnostic {
    Diagnostic::error("not-an-integer", expr.span, "this works on integers only")
}

fn float_arithmetic(operator: &str, left: &Value, right: &Value) -> Option<Value> {
    let number = |value: &Value| match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        Value::Text(_) => None,
    };
    let (left, right) = (number(left)?, number(right)?);
    Some(Value::Float(match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        _ => return None,
    }))
}
