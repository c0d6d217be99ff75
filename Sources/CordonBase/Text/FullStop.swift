extension String {
    /// The text without the full stop at its end, for a place inside a sentence that has its own: reasons of services and libraries come
    /// with one or without.
    package var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
