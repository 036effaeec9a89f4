import { useLocation } from 'wouter'
import { Act } from '../../parts/act.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { formOf } from '../../parts/read-fields.ts'
import { type Approval, type ApprovalItem, nounOf } from '../../words/approvals.ts'
import { countOf, formatBytes } from '../../words/format.ts'

interface DecideParts {
  approval: Approval
  /** Items that were shown: an approval covers none below them. */
  items: readonly ApprovalItem[]
  /** Numbers that are left out. */
  left: ReadonlySet<number>
}

/**
 * The decision on exactly the items that the page has shown. What joins the list while a dialog is
 * open is not part of it, and an approval that ends meanwhile leaves the dialog open to say so.
 */
export function DecideBar({ approval, items, left }: DecideParts) {
  const open = items.filter(({ state }) => state === 'open')
  const chosen = open.filter(({ number }) => !left.has(number))
  const hash = (items.at(-1)?.hash ?? approval.hash).slice(0, 16)
  const only = chosen.length === open.length ? undefined : formatRanges(chosen.map(({ number }) => number))
  const isQuestion = approval.kind === 'question'
  const body = { hash, ...(only !== undefined && { only }) }
  const command = `upshot approvals approve ${approval.id} --hash ${hash}${only === undefined ? '' : ` --only ${only}`}`
  if (approval.status !== 'open' || (!isQuestion && items.length === 0)) return null
  if (approval.mustSign) return <SignedOnly command={command} />
  return (
    <div className="bulk">
      <Approve approval={approval} chosen={chosen} body={body} />
      <Act
        label="Deny…"
        look="danger"
        title="Deny the whole list?"
        action="Deny"
        isDangerous
        to="POST /approvals/:id/deny"
        given={{ params: { id: approval.id }, body: { hash } }}
        then={({ woken }) => `Denied; ${countOf(woken, 'run goes', 'runs go')} on without it.`}
      >
        <p>Nothing of it happens. Each step fails with the code “denied”, which its workflow may handle.</p>
      </Act>
      {left.size > 0 && (
        <span className="quiet">{countOf(open.length - chosen.length, nounOf(approval.kind))} left out</span>
      )}
      <span className="push">
        <CopyAs cli={command} to="POST /approvals/:id/approve" input={{ params: { id: approval.id }, body }} />
      </span>
    </div>
  )
}

function SignedOnly({ command }: { command: string }) {
  return (
    <div className="bulk">
      <span className="grow">
        Approvers are registered, so each vote is signed with a private key, which no browser has. Use the command line.
      </span>
      <code className="wrap">{command} --as … --key-file …</code>
    </div>
  )
}

interface ApproveParts {
  approval: Approval
  chosen: readonly ApprovalItem[]
  body: { hash: string; only?: string }
}

function Approve({ approval, chosen, body }: ApproveParts) {
  const [, go] = useLocation()
  const { id, kind, why } = approval
  const schema = approval.question?.answer ?? null
  const form = schema === null ? null : formOf(schema)
  const size = chosen.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
  const isQuestion = kind === 'question'
  const approving = `Approve ${countOf(chosen.length, nounOf(kind))}`
  return (
    <Act
      label={isQuestion ? 'Answer…' : `${approving}…`}
      look="main"
      isDisabled={!isQuestion && chosen.length === 0}
      title={isQuestion ? why : `${approving}?`}
      action={isQuestion ? 'Answer yes' : approving}
      isDangerous={!isQuestion}
      fields={form?.fields ?? []}
      to="POST /approvals/:id/approve"
      given={(values) => ({ params: { id }, body: { ...body, ...(form && { answer: form.valueOf(values) }) } })}
      then={({ status, missing, granted, next }) => {
        if (status === 'open') return `Your decision counts. ${countOf(missing, 'more person', 'more people')} decide.`
        if (next !== null) go(`/approvals/${next}`)
        return isQuestion ? 'Answered; the run goes on.' : `Approved ${countOf(granted, nounOf(kind))}.`
      }}
    >
      {chosen.length > 0 && (
        <p>
          {kind === 'repair'
            ? 'Exactly these are made up, and start their workflows. All others stay lost.'
            : `Exactly these begin, ${formatBytes(size)} in all, each only in the state that the list shows. All others stay as they are.`}
        </p>
      )}
    </Act>
  )
}

/** Numbers as ranges, such as `1-40,45`. */
function formatRanges(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = []
  for (const number of [...numbers].sort((one, other) => one - other)) {
    const last = ranges.at(-1)
    if (last && number === last.to + 1) last.to = number
    else ranges.push({ from: number, to: number })
  }
  return ranges.map(({ from, to }) => (from === to ? String(from) : `${from}-${to}`)).join(',')
}
