// What each route takes and gives, read off the generated schema. Pages name a route; the compiler knows the rest.
import type { paths } from "./schema";

interface Json<T> {
  content: { "application/json": T };
}
type Ok<Operation> = Operation extends { responses: { 200: Json<infer Answer> } } ? Answer : never;
type Taken<Operation> = Operation extends { requestBody: Json<infer Body> } ? Body : never;

/** Routes that are asked with POST and answer 200. */
type Posts = { [Path in keyof paths]: [Ok<paths[Path]["post"]>] extends [never] ? never : Path }[keyof paths];
type Gets = { [Path in keyof paths]: [Ok<paths[Path]["get"]>] extends [never] ? never : Path }[keyof paths];

/** Absent fields of a request body mean the server's default, so every field may be left out. */
export type PostRoutes = {
  [Path in Posts]: { body: Partial<Taken<paths[Path]["post"]>>; answer: Ok<paths[Path]["post"]> };
};
export type GetRoutes = { [Path in Gets]: Ok<paths[Path]["get"]> };

export interface RangeBody {
  fromDate: string;
  toDate: string;
}
export type LogBody = PostRoutes["/api/logs"]["body"];

type Ordered<Asked> = Asked extends { orderBy?: infer Order } ? Extract<Order, string> : never;
/** What the list of a route can be sorted by; a column offers nothing else. */
export type OrderOf<Path extends keyof PostRoutes> = Ordered<PostRoutes[Path]["body"]>;
/** What the uploaded files can be sorted by. */
export type FileOrder = Ordered<NonNullable<paths["/api/symbols"]["get"]["parameters"]["query"]>>;
