import CordonProtocol
import Testing

@testable import Cordon

@Suite(.timeLimit(.minutes(10))) struct EventBroadcasterTests {
    @Test func `an observer that ends takes no other with it`() async {
        let events = EventBroadcaster()
        var stays = events.observe().makeAsyncIterator()
        do {
            var ends: AsyncStream<ProtectionEvent>? = events.observe()
            #expect(ends != nil)
            ends = nil
        }
        let told = ProtectionEvent.stateSetAside(reason: "told")
        events.post(told)
        #expect(await stays.next() == told)
        #expect(events.hasObservers)
    }
}
