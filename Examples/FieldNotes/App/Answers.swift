/// Lines typed while a prompt, such as the one for a PIN, waits for an answer.
///
/// A command that is typed there is not an answer, and above all not a guess at a PIN, of which there are few. So no PIN that
/// begins with a command's word can be made in this app either.
struct Answers: Sendable {
    let input: TypedLines
    let screen: Screen

    /// The next answer, not shown on a terminal where it is hidden; nil when the input has ended or the person leaves.
    func next(isHidden: Bool = false) async -> String? {
        while let line = await input.answer(isHidden: isHidden) {
            guard let word = TypedCommand.word(of: line) else { return line }
            if word == "quit" {
                input.leave()
                return nil
            }
            screen.tell(
                "notAnAnswer", "`\(word)` is a command, and something else is asked first; `quit` leaves the app")
        }
        return nil
    }
}
