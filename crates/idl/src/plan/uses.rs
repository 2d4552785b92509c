//! The uses of a structure's members by its other members.

use crate::model::Arith;

/// The uses of a member in expressions. From some uses the member's value follows. For example, the
/// value of an array's size follows from the length of the array that a program passes.
#[derive(Debug)]
pub(crate) struct Uses {
    member: usize,
    /// Whether the member's value follows from at least one use.
    is_implied: bool,
    /// Whether an expression uses the member in a way that does not determine the member's value.
    is_needed: bool,
}

impl Uses {
    /// Returns the record of a member that no expression uses yet, given its index.
    pub(crate) fn of(member: usize) -> Self {
        Self { member, is_implied: false, is_needed: false }
    }

    /// Records the uses in an expression. With `is_derivable`, programs pass the expression's value
    /// in another form, such as an array's length. If the member is the whole expression, the
    /// member's value then follows.
    pub(crate) fn note(&mut self, expression: &Arith, is_derivable: bool) {
        let is_implied = is_derivable && expression.plain().is_some();
        expression.operands(&mut |operand| {
            if operand.index == self.member {
                self.is_implied |= is_implied;
                self.is_needed |= !is_implied;
            }
        });
    }

    /// Records a use from which the member's value follows.
    pub(crate) fn note_implied(&mut self) {
        self.is_implied = true;
    }

    /// Whether the member is used, and its value follows from every use, so that programs need not
    /// pass it.
    pub(crate) fn are_implied(&self) -> bool {
        self.is_implied && !self.is_needed
    }
}
