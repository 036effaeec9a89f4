import { type ReactNode, useRef } from 'react'
import { useLocation } from 'wouter'

export interface Column<Row> {
  title: string
  /** CSS width; default: an equal share of what is left. */
  width?: string
  /** `number`, `wide` (a line of its own on a phone), or `spare` (left out on a narrow page). */
  className?: string
  cell: (row: Row) => ReactNode
}

interface TableParts<Row> {
  /** Name of the table, for a screen reader. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The address that a row opens. */
  hrefOf?: (row: Row) => string
  /** Keys of the selected rows; left out: rows cannot be selected. */
  selection?: { keys: ReadonlySet<string>; toggle: (key: string) => void }
  isStale?: boolean
}

/** Rows that are walked with j and k, opened with Enter, and selected with x. */
export function DataTable<Row>({ label, columns, rows, keyOf, hrefOf, selection, isStale }: TableParts<Row>) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [, go] = useLocation()
  const onKeyDown = (event: React.KeyboardEvent, row: Row) => {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' && hrefOf) go(hrefOf(row))
    if (event.key === 'x') selection?.toggle(keyOf(row))
  }
  return (
    <table className={`table${isStale ? ' stale' : ''}`} aria-label={label}>
      <colgroup>
        {selection && <col width="36px" />}
        {columns.map(({ title, width, className }) => (
          <col key={title} width={width} className={className === 'spare' ? 'spare' : undefined} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {selection && (
            <th scope="col">
              <span className="unseen">Select</span>
            </th>
          )}
          {columns.map(({ title, className }) => (
            <th key={title} scope="col" className={className}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            data-row
            tabIndex={-1}
            aria-selected={selection?.keys.has(keyOf(row))}
            onKeyDown={(event) => onKeyDown(event, row)}
          >
            {selection && (
              <td>
                <input
                  type="checkbox"
                  aria-label={`Select ${keyOf(row)}`}
                  checked={selection.keys.has(keyOf(row))}
                  onChange={() => selection.toggle(keyOf(row))}
                />
              </td>
            )}
            {columns.map(({ title, className, cell }) => (
              <td key={title} className={className}>
                {cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
