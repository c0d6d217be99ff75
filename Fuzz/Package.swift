// swift-tools-version: 6.2

import PackageDescription

/// One target for every family of parsers of foreign bytes. A package of its own, because a fuzzer has no `main`.
func fuzzer(_ name: String, _ modules: [String]) -> Target {
    .executableTarget(
        name: name, dependencies: modules.map { .product(name: $0, package: "cordon") },
        swiftSettings: [.swiftLanguageMode(.v6), .unsafeFlags(["-parse-as-library"])])
}

let package = Package(
    name: "cordon-fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "cordon", path: "..")],
    targets: [
        fuzzer("AppToolsFuzz", ["CordonAppTools"]),
        fuzzer("BrokerFuzz", ["CordonBroker", "CordonSignIn"]),
        fuzzer("PolicyFuzz", ["CordonIdentity", "CordonPolicy"]),
        fuzzer("ProtocolFuzz", ["CordonProtocol"]),
        fuzzer("ServiceFuzz", ["CordonServiceHTTP"]),
        fuzzer("VaultFuzz", ["CordonIdentity", "CordonVault"]),
    ]
)
