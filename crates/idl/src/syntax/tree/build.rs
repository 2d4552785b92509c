//! Builds the tree from the parser's records: converts ranges of the parser's tokens to ranges of
//! the file's tokens, and nests them.

use super::{NodeData, TokenData, Tree};
use crate::syntax::kind::{Noted, SyntaxKind};
use crate::text::lexer::Token;
use crate::text::preprocess::Output;
use std::cmp::Reverse;
use std::ops::Range;

/// A node's kind and its range of tokens in the file.
type Placed = (SyntaxKind, Range<usize>);

/// Builds the tree of a file.
pub(super) fn build(text: &str, tokens: &[Token], output: &Output, noted: Vec<Noted>) -> Tree {
    let tokens: Vec<TokenData> = tokens
        .iter()
        .map(|token| TokenData {
            kind: SyntaxKind::of_token(token.kind),
            span: token.span.start as usize..token.span.end as usize,
            parent: 0,
        })
        .collect();
    // If two nodes have the same tokens, the node that was recorded later is the outer one.
    let mut placed: Vec<Placed> = noted.into_iter().rev().filter_map(|one| place(one, text, &tokens, output)).collect();
    placed.extend(skipped(&output.skipped));
    placed.sort_by_key(|(_, range)| (range.start, Reverse(range.end)));
    arrange(text, tokens, placed)
}

/// Returns the tree of a text that is too long to be parsed.
pub(super) fn unread(text: &str) -> Tree {
    let token = TokenData { kind: SyntaxKind::Unknown, span: 0..text.len(), parent: 0 };
    arrange(text, vec![token], vec![(SyntaxKind::Error, 0..1)])
}

/// Returns the place of a node in the file. `None` if the node begins or ends within a macro's
/// replacement.
fn place(noted: Noted, text: &str, tokens: &[TokenData], output: &Output) -> Option<Placed> {
    let (first, end) = noted.tokens;
    let origin = |at: usize| output.origins.get(at).copied();
    let before = first.checked_sub(1).and_then(origin);
    let last = end.checked_sub(1).and_then(origin)?;
    let start = origin(first)?;
    if before == Some(start) || origin(end) == Some(last) {
        return None;
    }
    let start = if noted.kind.is_declaration() { with_comments(start, text, tokens) } else { start };
    Some((noted.kind, start..last + 1))
}

/// Returns the first of the comments on the lines immediately before a token, or the token.
fn with_comments(first: usize, text: &str, tokens: &[TokenData]) -> usize {
    let line_ends = |at: usize| text[tokens[at].span.clone()].matches('\n').count();
    let begins_line = |at: usize| match at.checked_sub(1) {
        Some(before) => tokens[before].kind == SyntaxKind::Directive || line_ends(before) > 0,
        None => true,
    };
    let mut start = first;
    for at in (0..first).rev() {
        match tokens[at].kind {
            SyntaxKind::Space if line_ends(at) <= 1 => {}
            SyntaxKind::Comment if begins_line(at) => start = at,
            SyntaxKind::Comment => {}
            _ => break,
        }
    }
    start
}

/// Returns a node for each run of conditionally excluded tokens.
fn skipped(tokens: &[usize]) -> impl Iterator<Item = Placed> {
    let runs = tokens.chunk_by(|left, right| left + 1 == *right);
    runs.filter_map(|run| Some((SyntaxKind::Skipped, *run.first()?..run.last()? + 1)))
}

/// Arranges nodes and tokens into a tree.
fn arrange(text: &str, mut tokens: Vec<TokenData>, placed: Vec<Placed>) -> Tree {
    let file = NodeData { kind: SyntaxKind::File, parent: None, tokens: 0..tokens.len(), next: 0 };
    let mut nodes = vec![file];
    let (mut inner, mut at) = (0, 0);
    for (kind, range) in placed.into_iter().chain([(SyntaxKind::File, tokens.len()..tokens.len())]) {
        // The nodes that end before the new node begins are complete.
        while let Some(parent) = nodes[inner].parent.filter(|_| nodes[inner].tokens.end <= range.start) {
            own(&mut tokens, &mut at, nodes[inner].tokens.end, inner);
            nodes[inner].next = nodes.len();
            inner = parent;
        }
        own(&mut tokens, &mut at, range.start, inner);
        if !range.is_empty() {
            let range = range.start..range.end.min(nodes[inner].tokens.end);
            nodes.push(NodeData { kind, parent: Some(inner), tokens: range, next: 0 });
            inner = nodes.len() - 1;
        }
    }
    nodes[0].next = nodes.len();
    Tree { text: text.to_owned(), tokens, nodes }
}

/// Assigns the tokens up to `end` to a node.
fn own(tokens: &mut [TokenData], at: &mut usize, end: usize, node: usize) {
    for token in tokens.iter_mut().take(end).skip(*at) {
        token.parent = node;
    }
    *at = end.max(*at);
}
