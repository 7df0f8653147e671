import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { securityLogQuery } from "../../api/account-me";
import { DataTable } from "../../parts/DataTable";
import { Empty, QueryView } from "../../parts/states";
import { AUDIT_COLUMNS } from "../organization/Audit";

/** Sign-ins, refused ones too, and every change of one's own credentials. */
export function SecurityLog() {
  const [before, setBefore] = useState<string>();
  const list = useQuery(securityLogQuery(before));
  return (
    <>
      <p className="text-ink2">
        Sign-ins to your account, refused ones too, and changes of its password, second step, passkeys and tokens. If
        something here was not you, change your password and sign out every other device.
      </p>
      <QueryView query={list}>
        {(page) =>
          page.data.length ? (
            <div className="panel overflow-hidden">
              <div className="overflow-x-auto">
                <DataTable
                  label="Security log"
                  rows={page.data}
                  rowKey={(row) => String(row.id)}
                  columns={AUDIT_COLUMNS}
                />
              </div>
              <nav aria-label="Pages of the log" className="flex justify-end gap-2 border-line border-t px-3 py-2">
                {before && (
                  <button type="button" className="btn" onClick={() => setBefore(undefined)}>
                    Newest
                  </button>
                )}
                {page.next && (
                  <button type="button" className="btn" onClick={() => setBefore(String(page.next))}>
                    Older
                  </button>
                )}
              </nav>
            </div>
          ) : (
            <div className="panel">
              <Empty title="Nothing has happened yet">The next sign-in is the first line.</Empty>
            </div>
          )
        }
      </QueryView>
    </>
  );
}
