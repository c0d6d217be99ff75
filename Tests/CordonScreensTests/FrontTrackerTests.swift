import Cordon
import CordonScreens
import CordonTestSupport
import Testing

/// Order of cover, gates and key window, scene by scene.
@Suite struct FrontTrackerTests {
    private func tracker(_ events: FrontTracker.Event...) -> FrontTracker {
        var tracker = FrontTracker()
        for event in events { _ = tracker.apply(event) }
        return tracker
    }

    private let started: [FrontTracker.Event] = [.connected("a"), .enteringForeground("a"), .becameActive("a")]

    @Test func `a scene is covered from its making until it is active`() {
        var tracker = FrontTracker()
        #expect(tracker.apply(.connected("a")) == [.cover("a")])
        #expect(tracker.apply(.enteringForeground("a")) == [.cameToFront])
        #expect(tracker.apply(.becameActive("a")) == [.makeKey("a"), .uncover("a")])
    }

    @Test func `the cover is there before the gates close, and both before the callback ends`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        #expect(tracker.apply(.resigningActive("a")) == [.cover("a")])
        #expect(tracker.apply(.enteredBackground("a")) == [.leftFront])
        #expect(!tracker.isInFront)
        #expect(tracker.isCovered("a"))
    }

    @Test func `a scene that goes to the background without warning is covered first`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        #expect(tracker.apply(.enteredBackground("a")) == [.cover("a"), .leftFront])
    }

    @Test func `a dialog of Cordon's own neither covers nor closes anything`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        #expect(tracker.shelter(true).isEmpty)
        #expect(tracker.apply(.resigningActive("a")).isEmpty)
        #expect(tracker.apply(.becameActive("a")).isEmpty)
        #expect(tracker.shelter(false).isEmpty)
    }

    @Test func `the home button during such a dialog covers and closes`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        _ = tracker.shelter(true)
        _ = tracker.apply(.resigningActive("a"))
        #expect(tracker.apply(.enteredBackground("a")) == [.cover("a"), .leftFront])
    }

    @Test func `a dialog that ends in an inactive scene leaves it covered`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        _ = tracker.shelter(true)
        _ = tracker.apply(.resigningActive("a"))
        #expect(tracker.shelter(false) == [.cover("a")])
        #expect(tracker.apply(.becameActive("a")) == [.uncover("a")])
    }

    @Test func `one of two scenes in the background closes no gate`() {
        var tracker = tracker(
            .connected("a"), .enteringForeground("a"), .becameActive("a"), .connected("b"), .enteringForeground("b"),
            .becameActive("b"))
        #expect(tracker.key == "b")
        #expect(tracker.apply(.enteredBackground("b")) == [.cover("b")])
        #expect(tracker.apply(.becameActive("a")) == [.makeKey("a")])
        #expect(tracker.apply(.enteredBackground("a")) == [.cover("a"), .leftFront])
    }

    @Test func `a key scene that goes leaves the key to one that is in front`() {
        var tracker = tracker(
            .connected("a"), .enteringForeground("a"), .becameActive("a"), .connected("b"), .enteringForeground("b"),
            .becameActive("b"))
        #expect(tracker.apply(.disconnected("b")) == [.forget("b"), .makeKey("a")])
        #expect(tracker.apply(.disconnected("a")) == [.forget("a"), .leftFront])
        #expect(tracker.apply(.disconnected("a")).isEmpty)
    }

    @Test func `a recorded screen is covered where the rules do not let it be`() {
        var tracker = tracker(.connected("a"), .enteringForeground("a"), .becameActive("a"))
        #expect(tracker.apply(.captured("a", true, isAllowed: true)).isEmpty)
        #expect(tracker.apply(.captured("a", true, isAllowed: false)) == [.cover("a")])
        #expect(tracker.apply(.resigningActive("a")).isEmpty)
        #expect(tracker.apply(.becameActive("a")).isEmpty)
        #expect(tracker.apply(.captured("a", false, isAllowed: false)) == [.uncover("a")])
    }

    @Test func `a launch without a scene is not in front`() {
        #expect(!FrontTracker().isInFront)
        #expect(FrontTracker().isCovered("a"))
    }

    @Test(.seeded(as: 11))
    func `whatever comes in whatever order, what is not active is covered and what is in the background is closed`() {
        var random = SeededGenerator()
        for _ in 0..<300 {
            var tracker = FrontTracker()
            var stages: [WindowID: Int] = [:]
            var covered: Set<WindowID> = []
            var isOpen = false
            for _ in 0..<30 {
                let window = WindowID(["a", "b", "c"][Int(random.next() % 3)])
                let commands: [FrontTracker.Command]
                switch random.next() % 5 {
                case 0:
                    commands = tracker.apply(.connected(window))
                    if stages[window] == nil { stages[window] = 0 }
                case 1:
                    commands = tracker.apply(.enteringForeground(window))
                    stages[window] = 1
                case 2:
                    commands = tracker.apply(.becameActive(window))
                    stages[window] = 2
                case 3:
                    commands = tracker.apply(.enteredBackground(window))
                    stages[window] = 0
                default:
                    commands = tracker.apply(.disconnected(window))
                    stages[window] = nil
                }
                for command in commands {
                    switch command {
                    case .cover(let one): covered.insert(one)
                    case .uncover(let one): covered.remove(one)
                    case .leftFront: isOpen = false
                    case .cameToFront: isOpen = true
                    case .forget(let one): covered.remove(one)
                    case .makeKey: break
                    }
                }
                for (one, stage) in stages {
                    #expect(tracker.isCovered(one) == (stage != 2))
                    if stage == 2 { #expect(!covered.contains(one)) }
                }
                #expect(isOpen == stages.values.contains { $0 > 0 })
            }
        }
    }
}
