/// One line on a terminal that says how far long work is; nothing anywhere else.
struct Progress {
    private let label: String
    private let isShown: Bool
    private var percent: Int64 = -1

    init(_ label: String, isShown: Bool = true) {
        self.label = label
        self.isShown = isShown && Terminal.showsProgress
    }

    /// Says how much is done, of how much: bytes or anything else that can be counted. Without a total nothing is said.
    mutating func show(_ done: Int64, of total: Int64?) {
        guard isShown, let total, total > 0 else { return }
        let now = Int64(Double(done) / Double(total) * 100)
        guard now != percent else { return }
        percent = now
        Terminal.progress("\(label) \(percent) %")
    }

    /// Clears the line.
    func end() {
        guard percent >= 0 else { return }
        Terminal.progress("")
    }
}
