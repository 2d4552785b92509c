//! The uses of a structure's members by its other members.

use crate::model::Arith;

/// The uses of a member: those from which its value follows, such as the size of an array whose
/// length users give, and others.
#[derive(Debug)]
pub(crate) struct Uses {
    member: usize,
    /// Whether the member's value follows from a use.
    is_implied: bool,
    /// Whether other expressions depend on the member.
    is_needed: bool,
}

impl Uses {
    /// Returns no uses yet of the member with this index.
    pub(crate) fn of(member: usize) -> Self {
        Self { member, is_implied: false, is_needed: false }
    }

    /// Notes an expression. `is_told`: users give the expression's value in another form, such as
    /// an array's length. A member that is the whole expression then follows from it.
    pub(crate) fn note(&mut self, expression: &Arith, is_told: bool) {
        let is_implied = is_told && expression.plain().is_some();
        expression.operands(&mut |operand| {
            if operand.index == self.member {
                self.is_implied |= is_implied;
                self.is_needed |= !is_implied;
            }
        });
    }

    /// Notes a use that implies the member.
    pub(crate) fn note_implied(&mut self) {
        self.is_implied = true;
    }

    /// Whether all uses imply the member, and there are some, so that users need not pass it.
    pub(crate) fn are_implied(&self) -> bool {
        self.is_implied && !self.is_needed
    }
}
