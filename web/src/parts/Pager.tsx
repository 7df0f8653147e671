import { ChevronLeft, ChevronRight } from "lucide-react";
import { count } from "../model/format";
import type { Pagination } from "../model/types";
import { SearchLink } from "../ui/SearchLink";
import { type Question, TableExport } from "./TableExport";

interface Props {
  pagination: Pagination;
  noun: string;
  /** The request of the list: it can be exported. */
  question?: Question;
}

/** "21–40 of 1,284" with links to the adjacent pages. */
export function Pager({ pagination, noun, question }: Props) {
  const { page, pageSize, total, totalPages } = pagination;
  const first = (page - 1) * pageSize + 1;
  return (
    <nav aria-label="Pages of the list" className="flex items-center justify-between gap-2 px-3 py-2 text-ink2">
      <span>
        {total === 0
          ? `No ${noun}`
          : `${count(first)}–${count(Math.min(total, page * pageSize))} of ${count(total)} ${noun}`}
      </span>
      <span className="flex gap-1">
        {question && total > 0 && <TableExport question={question} noun={noun} />}
        {totalPages > 1 && (
          <>
            <Step
              to={page - 1}
              disabled={page <= 1}
              label="Previous page"
              icon={<ChevronLeft size={14} aria-hidden />}
            />
            <Step
              to={page + 1}
              disabled={page >= totalPages}
              label="Next page"
              icon={<ChevronRight size={14} aria-hidden />}
            />
          </>
        )}
      </span>
    </nav>
  );
}

function Step({ to, disabled, label, icon }: { to: number; disabled: boolean; label: string; icon: React.ReactNode }) {
  if (disabled)
    return (
      <span className="btn btn-icon opacity-40" aria-hidden>
        {icon}
      </span>
    );
  return (
    <SearchLink change={{ page: to === 1 ? undefined : to }} className="btn btn-icon" label={label}>
      {icon}
    </SearchLink>
  );
}
