// swift-tools-version: 6.2

import PackageDescription

/// The switches of every target: Swift 6, explicit imports, and no warning that is not an error.
let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let certificates = Target.Dependency.product(name: "X509", package: "swift-certificates")
let asn1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let hummingbirdTesting = Target.Dependency.product(name: "HummingbirdTesting", package: "hummingbird")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, path: String? = nil, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let package = Package(
    name: "cordon",
    platforms: [.iOS(.v17), .macOS(.v15)],
    products: [
        .library(name: "Cordon", targets: ["Cordon"]),
        .library(name: "CordonIdentity", targets: ["CordonIdentity"]),
        .library(name: "CordonPolicy", targets: ["CordonPolicy"]),
        .library(name: "CordonProtocol", targets: ["CordonProtocol"]),
        .library(name: "CordonVault", targets: ["CordonVault"]),
        .library(name: "CordonSignIn", targets: ["CordonSignIn"]),
        .library(name: "CordonHTTPClient", targets: ["CordonHTTPClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
        // Exact, because the vault calls AEAD functions that this version links (docs/vault-format.md).
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        // The pure core.
        library("CordonIdentity"),
        library("CordonPolicy", ["CordonIdentity"]),

        // Messages.
        library("CordonProtocol", ["CordonIdentity", "CordonPolicy", crypto]),

        // Parts.
        library("CordonAEADShim"),
        library("CordonVault", ["CordonAEADShim", "CordonIdentity", crypto]),
        library("CordonSignIn", ["CordonIdentity", "CordonProtocol", crypto, httpTypes, jwtKit]),

        // The facade.
        library(
            "Cordon",
            [
                "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn", "CordonVault", crypto, httpTypes,
                logging,
            ]),
        library("CordonHTTPClient", ["CordonSignIn", asyncHTTPClient, httpTypes]),

        // Programs.
        library(
            "CordonDemo",
            ["CordonHTTPClient", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn", httpTypes]),
        program(
            "FieldNotes", path: "Examples/FieldNotes",
            [
                "Cordon", "CordonHTTPClient", "CordonIdentity", "CordonPolicy", "CordonProtocol", "CordonSignIn",
                "CordonVault", argumentParser, logging,
            ]),
    ]
)
