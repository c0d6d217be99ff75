// What an app needs beside ``AppProtection`` itself comes with `import Cordon`: who the work is for, what the rules say, and what a
// configuration is made of. The Linux transport is one more import, and so are sealed SQLite and identity across queues.
@_exported public import CordonIdentity
@_exported public import CordonPolicy
@_exported public import CordonProtocol
@_exported public import CordonSignIn
@_exported public import CordonVault
