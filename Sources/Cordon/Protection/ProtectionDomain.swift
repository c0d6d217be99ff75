/// The one executor on which every part of one app's protection runs.
///
/// Each part is an actor of its own that owns its state privately and names this one's executor as its own:
/// `nonisolated var unownedExecutor: UnownedSerialExecutor { context.domain.unownedExecutor }`. So a call from one part to
/// another needs `await` in the text, but neither changes threads nor lets anything else run in between.
actor ProtectionDomain {}
