import CordonServiceHTTP
import Foundation

/// One provider of the configuration file: its issuer alone, or an object that also says how its tokens look.
struct IssuerSettings: Codable, Equatable {
    var issuer: String
    /// How its tokens look, where the file says so.
    var profile: IssuerProfile?

    private enum Member: String, CodingKey, CaseIterable {
        case issuer, tokenIssuer, tokenTypes, accessTokenClaims, checkInAudience, administrationAudiences, claims,
            scopePrefixes, impliedScopes, programs, checkInProof, tokenRequest, securityEvents
    }

    private enum Claim: String, CodingKey, CaseIterable {
        case audience, scopes, roles, groups, name, id, tenant, signedIn
    }

    private enum Program: String, CodingKey, CaseIterable {
        case claim, value
    }

    private enum Request: String, CodingKey, CaseIterable {
        case scopes, resource
    }

    private enum Stream: String, CodingKey, CaseIterable {
        case poll, tokenFile
    }

    /// What `programs` says of a provider without any.
    private static let noPrograms = "none"

    init(issuer: String, profile: IssuerProfile? = nil) {
        self.issuer = issuer
        self.profile = profile
    }

    init(from decoder: any Decoder) throws {
        if let issuer = try? decoder.singleValueContainer().decode(String.self) {
            self.init(issuer: issuer)
            return
        }
        let members = try Self.container(of: Member.self, decoder)
        var profile = IssuerProfile()
        profile.tokenIssuer = try members.decodeIfPresent(String.self, forKey: .tokenIssuer)
        if let types = try members.words(.tokenTypes) { profile.tokenTypes = types }
        if let claims = try members.words(.accessTokenClaims) { profile.accessTokenClaims = claims }
        profile.checkInAudience = try members.decodeIfPresent(String.self, forKey: .checkInAudience)
        profile.administrationAudiences = try members.words(.administrationAudiences).map(Set.init)
        if let prefixes = try members.words(.scopePrefixes) { profile.scopePrefixes = prefixes }
        if let scopes = try members.words(.impliedScopes) { profile.impliedScopes = Set(scopes) }
        if let proof = try members.decodeIfPresent(String.self, forKey: .checkInProof) {
            guard let known = IssuerProfile.CheckInProof(rawValue: proof) else {
                throw Self.unusable(.checkInProof, members, "token or registration")
            }
            profile.checkInProof = known
        }
        if members.contains(.claims) {
            let claims = try Self.container(of: Claim.self, members.superDecoder(forKey: .claims))
            profile.audienceClaims = try claims.words(.audience) ?? profile.audienceClaims
            profile.signedInClaim = try claims.decodeIfPresent(String.self, forKey: .signedIn) ?? profile.signedInClaim
            profile.scopeClaims = try claims.words(.scopes) ?? profile.scopeClaims
            profile.roleClaims = try claims.words(.roles) ?? profile.roleClaims
            profile.groupClaims = try claims.words(.groups) ?? profile.groupClaims
            profile.nameClaims = try claims.words(.name) ?? profile.nameClaims
            profile.idClaims = try claims.words(.id) ?? profile.idClaims
            // `null` says that the organisation is not looked at.
            if claims.contains(.tenant) {
                profile.tenantClaim = try claims.decodeIfPresent(String.self, forKey: .tenant)
            }
        }
        if members.contains(.programs) { profile.programs = try Self.programs(members) }
        if members.contains(.tokenRequest) {
            let request = try Self.container(of: Request.self, members.superDecoder(forKey: .tokenRequest))
            profile.tokenRequest = IssuerProfile.TokenRequest(
                scopes: try request.words(.scopes) ?? [],
                resource: try request.decodeIfPresent(String.self, forKey: .resource))
        }
        if members.contains(.securityEvents) {
            let stream = try Self.container(of: Stream.self, members.superDecoder(forKey: .securityEvents))
            guard let poll = URL(string: try stream.decode(String.self, forKey: .poll)) else {
                throw Self.unusable(.securityEvents, members, "an address in poll")
            }
            profile.eventStream = IssuerProfile.EventStream(
                poll: poll,
                tokenFile: try stream.decodeIfPresent(String.self, forKey: .tokenFile).map { URL(filePath: $0) })
        }
        guard members.contains(.issuer) else { throw Self.unusable(.issuer, members, "there") }
        self.init(issuer: try members.decode(String.self, forKey: .issuer), profile: profile)
    }

    func encode(to encoder: any Encoder) throws {
        guard let profile else {
            var container = encoder.singleValueContainer()
            return try container.encode(issuer)
        }
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(issuer, forKey: .issuer)
        try members.encodeIfPresent(profile.tokenIssuer, forKey: .tokenIssuer)
        try members.encode(profile.tokenTypes, forKey: .tokenTypes)
        try members.encode(profile.accessTokenClaims, forKey: .accessTokenClaims)
        try members.encodeIfPresent(profile.checkInAudience, forKey: .checkInAudience)
        try members.encodeIfPresent(profile.administrationAudiences?.sorted(), forKey: .administrationAudiences)
        var claims = members.nestedContainer(keyedBy: Claim.self, forKey: .claims)
        try claims.encode(profile.audienceClaims, forKey: .audience)
        try claims.encode(profile.scopeClaims, forKey: .scopes)
        try claims.encode(profile.roleClaims, forKey: .roles)
        try claims.encode(profile.groupClaims, forKey: .groups)
        try claims.encode(profile.nameClaims, forKey: .name)
        try claims.encode(profile.idClaims, forKey: .id)
        try claims.encode(profile.tenantClaim, forKey: .tenant)
        try claims.encode(profile.signedInClaim, forKey: .signedIn)
        if !profile.scopePrefixes.isEmpty { try members.encode(profile.scopePrefixes, forKey: .scopePrefixes) }
        try members.encode(profile.impliedScopes.sorted(), forKey: .impliedScopes)
        switch profile.programs {
        case .standard: break
        case .none: try members.encode(Self.noPrograms, forKey: .programs)
        case .claim(let name, let value):
            var program = members.nestedContainer(keyedBy: Program.self, forKey: .programs)
            try program.encode(name, forKey: .claim)
            try program.encode(value, forKey: .value)
        }
        try members.encode(profile.checkInProof.rawValue, forKey: .checkInProof)
        if let wanted = profile.tokenRequest {
            var request = members.nestedContainer(keyedBy: Request.self, forKey: .tokenRequest)
            try request.encode(wanted.scopes, forKey: .scopes)
            try request.encodeIfPresent(wanted.resource, forKey: .resource)
        }
        if let kept = profile.eventStream {
            var stream = members.nestedContainer(keyedBy: Stream.self, forKey: .securityEvents)
            try stream.encode(kept.poll.absoluteString, forKey: .poll)
            try stream.encodeIfPresent(kept.tokenFile?.path, forKey: .tokenFile)
        }
    }

    private static func programs(_ members: KeyedDecodingContainer<Member>) throws -> IssuerProfile.Programs {
        if let word = try? members.decode(String.self, forKey: .programs) {
            guard word == noPrograms else {
                throw unusable(.programs, members, "\(noPrograms), or a claim and its value")
            }
            return .none
        }
        let program = try container(of: Program.self, members.superDecoder(forKey: .programs))
        return .claim(
            try program.decode(String.self, forKey: .claim), value: try program.decode(String.self, forKey: .value))
    }

    private static func unusable(
        _ member: Member, _ members: KeyedDecodingContainer<Member>, _ values: String
    ) -> DecodingError {
        .dataCorrupted(
            .init(codingPath: members.codingPath + [member], debugDescription: "it must be \(values)"))
    }

    /// The members of an object that has no other than these.
    private static func container<Key: CodingKey & CaseIterable>(
        of type: Key.Type, _ decoder: any Decoder
    ) throws -> KeyedDecodingContainer<Key> {
        let known = Key.allCases.map(\.stringValue)
        if let strange = try MemberNames(from: decoder).strange(besides: known) {
            throw CommandFailure(
                .badInput, "issuers: \(strange) is not a setting of a provider",
                hint: MemberNames.hint(to: strange, besides: known))
        }
        return try decoder.container(keyedBy: type)
    }
}

extension KeyedDecodingContainer {
    /// A list of texts, or one text in place of a list of one.
    fileprivate func words(_ key: Key) throws -> [String]? {
        guard contains(key) else { return nil }
        if let word = try? decode(String.self, forKey: key) { return [word] }
        return try decode([String].self, forKey: key)
    }
}
