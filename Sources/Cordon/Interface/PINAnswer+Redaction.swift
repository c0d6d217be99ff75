/// A PIN is not printed by accident.
extension PINAnswer: CustomStringConvertible, CustomReflectable {
    /// Says what was done, and nothing of the PIN.
    public var description: String {
        switch self {
        case .entered: "entered(redacted)"
        case .recognised(let biometry): "recognised(\(biometry))"
        case .forgotten: "forgotten"
        case .cancelled: "cancelled"
        }
    }
    /// Shows nothing of the PIN.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension NewPINAnswer: CustomStringConvertible, CustomReflectable {
    /// Says what was done, and nothing of the PIN.
    public var description: String {
        switch self {
        case .chosen: "chosen(redacted)"
        case .cancelled: "cancelled"
        }
    }
    /// Shows nothing of the PIN.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
