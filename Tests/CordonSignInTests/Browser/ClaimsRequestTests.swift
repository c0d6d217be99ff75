import CordonSignIn
import Testing

@Suite struct ClaimsRequestTests {
    @Test func `a request names claims of the two tokens and nothing else`() throws {
        let request = try ClaimsRequest(json: #"{"id_token":{"auth_time":{"essential":true}},"access_token":{}}"#)
        #expect(request.json == #"{"access_token":{},"id_token":{"auth_time":{"essential":true}}}"#)
    }

    @Test(arguments: ["", "[]", "{", #"{"userinfo":{}}"#, #"{"id_token":"x"}"#, #"{"access_token":[]}"#])
    func `anything else is refused`(json: String) {
        #expect(throws: SignInError(.configuration, .invalidParameter, "")) { _ = try ClaimsRequest(json: json) }
    }

    @Test func `a challenge without claims is not a claims challenge`() {
        #expect(ClaimsRequest(challenge: #"Bearer error="invalid_token""#) == nil)
        #expect(ClaimsRequest(challenge: #"Bearer error="insufficient_claims""#) == nil)
        #expect(ClaimsRequest(challenge: #"Bearer error="insufficient_claims", claims="!!!""#) == nil)
        #expect(ClaimsRequest(challenge: #"DPoP error="insufficient_claims", claims="e30=""#)?.json == "{}")
    }
}
