import type { ReactNode } from 'react'
import { useLocation } from 'wouter'
import { Blocks } from './blocks.tsx'

export interface Column<Row> {
  title: string
  /** A share of the table, or pixels where text has its usual size; default: a share of what is left. */
  width?: string
  /** Any of `number`, `quiet`, `wide` (a line on a phone) and `spare` (left out on a narrow page). */
  className?: string
  cell: (row: Row) => ReactNode
}

/** Pixels grow with the text. */
const growing = (width: string | undefined) => width?.replace(/^(\d+)px$/, 'calc($1rem / 14)')

/** Height of a row on a wide page, as `table.css` has it. */
const ROW_HEIGHT = 36

export interface TableParts<Row> {
  /** Name of the table, for a screen reader. */
  label: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The address that a row opens. */
  hrefOf?: (row: Row) => string
  /** Keys of the selected rows; left out: rows cannot be selected. */
  selection?: {
    keys: ReadonlySet<string>
    toggle: (key: string) => void
    nameOf?: (row: Row) => string
    fits?: (row: Row) => boolean
  }
  /** True: the rows are those of another question, until its own come. None of them is selected. */
  isStale?: boolean
}

/** Rows that are walked with j and k, opened with Enter, and selected with x. */
export function DataTable<Row>({ label, columns, rows, keyOf, hrefOf, selection, isStale }: TableParts<Row>) {
  const [, go] = useLocation()
  const onKeyDown = (event: React.KeyboardEvent, row: Row) => {
    if (event.target !== event.currentTarget) return
    if (event.key === 'Enter' && hrefOf) go(hrefOf(row))
    if (event.key === 'x' && !isStale) selection?.toggle(keyOf(row))
  }
  return (
    <table className={`table${isStale ? ' stale' : ''}`} aria-label={label} aria-rowcount={rows.length + 1}>
      <colgroup>
        {selection && <col style={{ width: growing('36px') }} />}
        {columns.map(({ title, width, className }) => (
          <col
            key={title}
            style={{ width: growing(width) }}
            className={className?.includes('spare') ? 'spare' : undefined}
          />
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
      <Blocks rows={rows} as="tbody" rowHeight={ROW_HEIGHT}>
        {(row, index) => (
          <tr
            key={keyOf(row)}
            data-row
            tabIndex={-1}
            aria-rowindex={index + 2}
            aria-selected={selection?.keys.has(keyOf(row))}
            onKeyDown={(event) => onKeyDown(event, row)}
          >
            {selection && (
              <td>
                {(selection.fits?.(row) ?? true) && (
                  <input
                    type="checkbox"
                    aria-label={`Select ${selection.nameOf?.(row) ?? keyOf(row)}`}
                    disabled={isStale}
                    checked={selection.keys.has(keyOf(row))}
                    onChange={() => selection.toggle(keyOf(row))}
                  />
                )}
              </td>
            )}
            {columns.map(({ title, width, className, cell }, column) => (
              <td
                key={title}
                className={className}
                data-title={column > 0 && width?.endsWith('px') ? title : undefined}
              >
                {cell(row)}
              </td>
            ))}
          </tr>
        )}
      </Blocks>
    </table>
  )
}
