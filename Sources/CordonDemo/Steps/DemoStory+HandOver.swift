internal import CordonLeakScan
internal import CordonPolicy
internal import CordonProtocol
internal import Foundation

extension DemoStory {
    /// A device that two workers share: one signs in for every app, signs out once, and leaves nothing to the next.
    func handOver(_ step: inout DemoStep) async throws(ProgramError) {
        let service = try await stage.runningService()
        guard let issuer = service.announcement["issuer"]?.string else {
            throw ProgramError.stage("the service names no issuer")
        }
        let broker = try await stage.broker(issuer: issuer)
        let tool = DeviceTool(cordon: cast.cordon, socket: broker.socket, transport: stage.transport)
        let joined = try await tool.run(["join"], as: try stage.administratorsPassword())
        step.expect("an administrator joins the device", joined.answer["mode"]?.string, is: "shared")

        let first = try await stage.sharedApp("board-1", at: broker)
        let second = try await stage.sharedApp("board-2", at: broker)
        let planted = Array(scan.texts.prefix(8))
        _ = try await stage.signIn(try stage.worker("a"), in: first)
        for text in planted { try await second.ask("post \(text)") }
        step.expect(
            "the second app needs no sign-in of its own", try await second.ask("show")["text"]?.contains(planted[0]),
            is: true)
        let before = try leaks(of: planted, inProcess: second.process.id).texts
        step.expect("the control: the first worker's process holds every planted text", before, is: planted.count)
        step.expect("on the disk none is readable", try leaks(below: stage.home(of: "board-2")).texts, is: 0)

        let began = ContinuousClock.now
        let out = try await first.ask("sign-out")
        step.facts["millisecondsToSignOut"] = .measured((ContinuousClock.now - began).milliseconds)
        step.expect("the session's key is destroyed", out["keyDestroyed"], is: "true")
        step.expect("every app reports that it cleaned up", out["apps"]?.contains("late"), is: false)

        // The next worker starts the app again, as a person at a shared device does.
        await second.end()
        let next = try await stage.sharedApp("board-2", at: broker)
        _ = try await stage.signIn(try stage.worker("b"), in: next)
        step.expect("the next worker finds an empty board", try await next.ask("show")["text"], is: "")
        let left = try leaks(of: planted, inProcess: next.process.id).texts
        step.expect("and the process holds none of the first worker's texts", left, is: 0)
        let onDisk = try files(below: stage.home(of: "board-2").appending(path: "sessions"))
        step.expect(
            "no file of the first session is left", onDisk.keys.contains { $0.contains("/remarks/") }, is: false)
    }
}
