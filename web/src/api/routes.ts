// Request and response types of each route, derived from the generated schema.
import type { paths } from "../model/schema";

interface Json<T> {
  content: { "application/json": T };
}
type Ok<Operation> = Operation extends { responses: { 200: Json<infer Answer> } } ? Answer : never;
type Taken<Operation> = Operation extends { requestBody: Json<infer Body> } ? Body : never;

/** Paths whose POST operation returns a JSON body with status 200. */
type Posts = { [Path in keyof paths]: [Ok<paths[Path]["post"]>] extends [never] ? never : Path }[keyof paths];
type Gets = { [Path in keyof paths]: [Ok<paths[Path]["get"]>] extends [never] ? never : Path }[keyof paths];

/** Every field of a request body is optional: the server has defaults. */
export type PostRoutes = {
  [Path in Posts]: { body: Partial<Taken<paths[Path]["post"]>>; answer: Ok<paths[Path]["post"]> };
};
export type GetRoutes = { [Path in Gets]: Ok<paths[Path]["get"]> };

export interface RangeBody {
  fromDate: string;
  toDate: string;
}
export type LogBody = PostRoutes["/api/logs"]["body"];

type Ordered<Body> = Body extends { orderBy?: infer Order } ? Extract<Order, string> : never;
/** Sort orders of a route's list; columns accept only these. */
export type OrderOf<Path extends keyof PostRoutes> = Ordered<PostRoutes[Path]["body"]>;
/** Sort orders of the uploaded files. */
export type FileOrder = Ordered<NonNullable<paths["/api/symbols"]["get"]["parameters"]["query"]>>;
