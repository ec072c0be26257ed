//! A model of the leader-election protocol, checked exhaustively.
