/** Levels that are open at first. */
const OPEN_LEVELS = 2
/** Entries of one level that are shown. */
const MAX_ENTRIES = 200

export function JsonTree({ value }: { value: unknown }) {
  return (
    <div className="tree">
      <Node name={null} value={value} level={0} />
    </div>
  )
}

function Node({ name, value, level }: { name: string | null; value: unknown; level: number }) {
  const label = name === null ? null : <span className="name">{name}: </span>
  if (typeof value !== 'object' || value === null) {
    return (
      <div>
        {label}
        <span className={typeof value === 'string' ? 'text wrap' : 'scalar'}>
          {JSON.stringify(value) ?? 'undefined'}
        </span>
      </div>
    )
  }
  const entries = Object.entries(value)
  const size = Array.isArray(value) ? `[ ${entries.length} ]` : `{ ${entries.length} }`
  if (entries.length === 0) {
    return (
      <div>
        {label}
        {Array.isArray(value) ? '[]' : '{}'}
      </div>
    )
  }
  return (
    <details open={level < OPEN_LEVELS}>
      <summary>
        {label}
        <span className="quiet">{size}</span>
      </summary>
      {entries.slice(0, MAX_ENTRIES).map(([key, each]) => (
        <Node key={key} name={key} value={each} level={level + 1} />
      ))}
      {entries.length > MAX_ENTRIES && <div className="quiet">and {entries.length - MAX_ENTRIES} more</div>}
    </details>
  )
}
