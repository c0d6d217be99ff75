internal import Mustache

/// The values of a template. What is absent is absent: unlike with a dictionary, it is not taken from what surrounds it.
package struct PageModel: MustacheParent {
    /// Names that are meant to be found in what surrounds a model.
    private static let shared: Set<String> = ["csrf"]

    private let values: [String: Any]

    /// - Parameter values: Texts, truths, models and lists of them; nil and empty texts count as absent.
    package init(_ values: [String: Any?]) {
        self.values = values.compactMapValues { value in
            if let text = value as? String, text.isEmpty { return nil }
            return value
        }
    }

    package func child(named name: String) -> Any? {
        values[name] ?? (Self.shared.contains(name) ? nil : Absent())
    }

    /// Stands for what a model does not have: it is found, and shows nothing.
    private struct Absent: MustacheCustomRenderable {
        var renderText: String { "" }
        var isNull: Bool { true }
    }
}
