import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { securityLogQuery } from "../../api/account-me";
import { AuditTable } from "../../parts/AuditTable";
import { Empty, QueryView } from "../../parts/states";

/** Sign-ins, including refused ones, and all changes of the account's credentials. */
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
            <AuditTable
              label="Security log"
              rows={page.data}
              newest={
                before && (
                  <button type="button" className="btn" onClick={() => setBefore(undefined)}>
                    Newest
                  </button>
                )
              }
              older={
                page.next && (
                  <button type="button" className="btn" onClick={() => setBefore(String(page.next))}>
                    Older
                  </button>
                )
              }
            />
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
