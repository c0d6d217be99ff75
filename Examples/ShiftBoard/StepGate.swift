import Foundation

/// Holds a clean-up before each of its steps, so that a test can kill the app exactly there.
struct StepGate: Sendable {
    let folder: URL

    /// Says which step comes next and waits until a file `pass-STEP` lies in the folder.
    func wait(before step: String, _ output: Output) async {
        output.tell("clean-up-step", ["step": step])
        let pass = folder.appending(path: "pass-\(step)").path
        while !FileManager.default.fileExists(atPath: pass) {
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
    }
}
