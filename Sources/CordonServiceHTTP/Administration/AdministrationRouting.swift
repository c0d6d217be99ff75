import CordonProtocol
import CordonService
import HTTPTypes
import Hummingbird
import Logging

/// Puts a route beside Graph on a router: lets an administrator through, answers refusals with problem details and logs.
struct AdministrationRouting: Sendable {
    let gate: AdministrationGate
    let logger: Logger

    /// The largest body of a request.
    static let largestBody = 1 << 20

    func on(
        _ router: some RouterMethods<BasicRequestContext>, _ method: HTTPRequest.Method, _ path: String,
        _ access: AdministrationAccess, stepsUp: Bool = false,
        _ handler: @escaping @Sendable (Exchange, Administrator) async throws(CheckInRefusal) -> Response
    ) {
        router.on(RouterPath(path), method: method) { request, context in
            let exchange = Exchange(request, context, logger: logger)
            var response: Response
            do throws(CheckInRefusal) {
                response = try await handler(exchange, try await administrator(of: request, access, stepsUp))
                exchange.log(route: path, status: response.status.code)
            } catch {
                // The device's codes mean nothing to an administrator.
                var refusal = error
                refusal.problem.code = nil
                response = refusal.response(in: exchange)
                exchange.log(route: path, status: refusal.problem.status, failure: refusal.problem.type)
            }
            response.headers[.requestID] = exchange.id
            response.headers[.cacheControl] = "no-store"
            return response
        }
    }

    private func administrator(
        of request: Request, _ access: AdministrationAccess, _ stepsUp: Bool
    ) async throws(CheckInRefusal) -> Administrator {
        do throws(TokenRefusal) {
            let token = try await gate.token(of: request)
            if stepsUp { try gate.requireFreshSignIn(token) }
            return try await gate.administrator(token, for: access)
        } catch {
            var refusal = CheckInRefusal(error)
            refusal.headers[.wwwAuthenticate] = error.bearerChallenge(maxAge: gate.stepUpAge)
            throw refusal
        }
    }
}
