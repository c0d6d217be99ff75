import CordonBase
import HTTPTypes
import Hummingbird

extension Response {
    /// A page of a list; the header `Link` has the address of the next one.
    ///
    /// - Parameters:
    ///   - asked: What was asked for besides where the page begins.
    ///   - next: The id after which the next page begins, nil at the end.
    init(
        page: some Encodable, of path: String, asked: [(key: String, value: String)] = [], next: String?
    ) throws {
        self = try Response(.ok, page)
        guard let next else { return }
        headers[.link] = "<\(path)?\(FormEncoding.encode(asked + [(key: "after", value: next)]))>; rel=\"next\""
    }

    /// A page of a list that is asked for with `after` and `top`, as it is read.
    static func page<Value: Encodable>(
        of path: String, _ request: Request,
        _ read: (_ after: String?, _ limit: Int?) async throws -> (page: [Value], next: String?)
    ) async throws -> Response {
        let query = request.uri.queryParameters
        let limit = query["top"].flatMap { Int($0) }
        let (page, next) = try await read(query["after"].map(String.init), limit)
        return try Response(
            page: page, of: path, asked: limit.map { [(key: "top", value: String($0))] } ?? [], next: next)
    }
}
