internal import Foundation

/// One setting: its two spellings, and how its value is read.
struct SettingKey: Sendable {
    /// Every spelling, Cordon's first.
    let names: [String]
    /// Takes the value over; what is wrong with it, or nil.
    let read: @Sendable (PropertyValue, inout ProtectionSettings) -> String?

    init(
        _ name: String, _ other: String?, read: @escaping @Sendable (PropertyValue, inout ProtectionSettings) -> String?
    ) {
        names = [name] + (other.map { [$0] } ?? [])
        self.read = read
    }

    typealias Path<Value> = WritableKeyPath<ProtectionSettings, Value> & Sendable

    static func flag(_ name: String, _ other: String? = nil, _ path: Path<Bool>) -> SettingKey {
        SettingKey(name, other) { value, settings in
            guard case .flag(let flag) = value else { return "is \(value.kind), a truth value is needed" }
            settings[keyPath: path] = flag
            return nil
        }
    }

    static func text(_ name: String, _ other: String? = nil, _ path: Path<String?>) -> SettingKey {
        SettingKey(name, other) { value, settings in
            guard case .text(let text) = value else { return "is \(value.kind), text is needed" }
            guard !text.isEmpty else { return "is empty" }
            settings[keyPath: path] = text
            return nil
        }
    }

    static func address(_ name: String, _ other: String? = nil, _ path: Path<String?>) -> SettingKey {
        SettingKey(name, other) { value, settings in
            guard case .text(let text) = value, let url = URL(string: text), url.scheme != nil else {
                return "is not a URL with a scheme"
            }
            settings[keyPath: path] = text
            return nil
        }
    }

    static func list(_ name: String, _ path: Path<[String]>) -> SettingKey {
        SettingKey(name, nil) { value, settings in
            guard case .list(let values) = value else { return "is \(value.kind), a list of texts is needed" }
            var texts: [String] = []
            for value in values {
                guard case .text(let text) = value, !text.isEmpty else { return "holds something that is not text" }
                texts.append(text)
            }
            settings[keyPath: path] = texts
            return nil
        }
    }

    static func color(_ name: String, _ path: Path<ProtectionTheme.Color?>) -> SettingKey {
        SettingKey(name, nil) { value, settings in
            guard case .text(let text) = value, let color = ProtectionTheme.Color(text) else {
                return "is not a colour such as #1A2B3C"
            }
            settings[keyPath: path] = color
            return nil
        }
    }

    /// A setting of older apps that means nothing to Cordon.
    static func withoutEffect(_ name: String, _ why: String) -> SettingKey {
        SettingKey(name, nil) { _, _ in "has no effect: \(why)" }
    }
}
