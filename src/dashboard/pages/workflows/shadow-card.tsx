import { Link } from 'wouter'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { CopyAs } from '../../parts/copy-as.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { When } from '../../parts/when.tsx'
import { countOf, formatBytes, formatCount } from '../../words/format.ts'

type Workflow = AnswerOf<'GET /workflows/:id'>
type Shadow = Workflow['shadows'][number]

/** Runs that a shadow takes alike, or of which nothing can be said, for one reason. */
interface Kind {
  key: string
  count: number
  bytes: number
  lines: readonly string[]
  run: string | undefined
}

const COLUMNS: readonly Column<Kind>[] = [
  { title: 'Runs', width: '90px', className: 'number', cell: ({ count }) => formatCount(count) },
  {
    title: 'Difference',
    className: 'wide',
    cell: ({ lines }) =>
      lines.map((line) => (
        <div key={line}>
          <code>{line}</code>
        </div>
      )),
  },
  { title: 'Bytes', width: '100px', className: 'number', cell: ({ bytes }) => (bytes === 0 ? '' : formatBytes(bytes)) },
  {
    title: 'Such as',
    width: '260px',
    cell: ({ run }) => run !== undefined && <Link href={`/runs/${run}`}>{run}</Link>,
  },
]

/** A shadow that nobody has followed for so long is gone, or has taken the workflow's place. */
const GONE_MS = 86_400_000

/** The differences of the newest shadow from the runs of its workflow; nothing without one. */
export function ShadowCard({ workflow: { id, shadows } }: { workflow: Workflow }) {
  const [shadow] = shadows
  if (shadow === undefined || Date.now() - Date.parse(shadow.followed) > GONE_MS) return null
  const kinds = kindsOf(shadow)
  return (
    <section className="card padded stack" aria-label="Shadow">
      <div className="row">
        <h2>Shadow</h2>
        <CopyAs cli={`upshot backtest ${id} --shadow`} url={urlOf('GET /workflows/:id', { params: { id } })} />
      </div>
      <p className="wrap">
        <code>{shadow.file}</code> {describeRuns(shadow)} <span className="quiet">Compared since </span>
        <When at={shadow.since} />
        <span className="quiet">, up to </span>
        <When at={shadow.followed} />
        <span className="quiet">.</span>
      </p>
      {kinds.length > 0 && (
        <DataTable label="Differences of the shadow" columns={COLUMNS} rows={kinds} keyOf={({ key }) => key} />
      )}
    </section>
  )
}

function describeRuns({ runs, same }: Shadow): string {
  if (runs === 0) return 'has met no run that has ended.'
  return same === runs
    ? `does the same as ${countOf(runs, 'run')}.`
    : `does the same as ${formatCount(same)} of ${countOf(runs, 'run')}.`
}

function kindsOf({ groups, cannotSay }: Shadow): Kind[] {
  return [
    ...groups.map(({ key, count, bytes, changes, samples }) => ({
      ...{ key, count, bytes, run: samples[0]?.run ?? undefined },
      lines: changes.length === 0 ? ['other differences'] : changes.map(({ text }) => text),
    })),
    ...cannotSay.map(({ question, count, samples }) => ({
      ...{ key: `? ${question}`, count, bytes: 0, run: samples[0]?.run ?? undefined },
      lines: [`cannot say: ${question}`],
    })),
  ]
}
