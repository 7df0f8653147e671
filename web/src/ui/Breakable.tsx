import { Fragment } from "react";
import { pieces } from "../model/breaks";

/** A dotted name that may wrap after dots and underscores. Copied text has no breaks. */
export function Breakable({ name }: { name: string }) {
  return pieces(name).map((piece, i) => (
    <Fragment key={i}>
      {i > 0 && <wbr />}
      {piece}
    </Fragment>
  ));
}
