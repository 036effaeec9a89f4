import { useState } from 'react'
import { useLocation } from 'wouter'
import type { InputOf } from '../../../admin/contract/routes.ts'
import { urlOf } from '../../api/client.ts'
import { useAction } from '../../api/use-api.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyAs } from '../../parts/copy-as.tsx'
import { useToasts } from '../../state/toasts.tsx'
import { type Approval, type ApprovalItem, nounOf } from '../../words/approvals.ts'
import { countOf, formatBytes } from '../../words/format.ts'
import { formatRanges } from '../../words/ranges.ts'
import { AnswerFields, readAnswer } from './answer-fields.tsx'

interface DecideParts {
  approval: Approval
  /** Items that were shown: an approval covers none below them. */
  items: readonly ApprovalItem[]
  /** Numbers that are left out. */
  left: ReadonlySet<number>
}

/** The decision on exactly the items that the page has shown. */
export function DecideBar({ approval, items, left }: DecideParts) {
  const [dialog, setDialog] = useState<'approve' | 'deny' | null>(null)
  const open = items.filter(({ state }) => state === 'open')
  const chosen = open.filter(({ number }) => !left.has(number))
  const hash = (items.at(-1)?.hash ?? approval.hash).slice(0, 16)
  const only = chosen.length === open.length ? undefined : formatRanges(chosen.map(({ number }) => number))
  const isQuestion = approval.kind === 'question'
  const what = isQuestion ? 'the question' : countOf(chosen.length, nounOf(approval.kind))
  const body = { hash, ...(only === undefined ? {} : { only }) }
  const command = `upshot approvals approve ${approval.id} --hash ${hash}${only === undefined ? '' : ` --only ${only}`}`
  const params = { id: approval.id }
  if (approval.mustSign) return <SignedOnly command={command} />
  return (
    <div className="bulk">
      <button
        type="button"
        className="main"
        disabled={!isQuestion && chosen.length === 0}
        onClick={() => setDialog('approve')}
      >
        {isQuestion ? 'Answer…' : `Approve ${what}…`}
      </button>
      <button type="button" className="danger" onClick={() => setDialog('deny')}>
        Deny…
      </button>
      {left.size > 0 && (
        <span className="quiet">{countOf(open.length - chosen.length, nounOf(approval.kind))} left out</span>
      )}
      <span className="push">
        <CopyAs cli={command} url={urlOf('POST /approvals/:id/approve', { params, body })} body={body} />
      </span>
      {dialog === 'approve' && (
        <ApproveDialog approval={approval} chosen={chosen} body={body} onClose={() => setDialog(null)} />
      )}
      {dialog === 'deny' && <DenyDialog approval={approval} hash={hash} onClose={() => setDialog(null)} />}
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
  body: InputOf<'POST /approvals/:id/approve'>['body']
  onClose: () => void
}

function ApproveDialog({ approval, chosen, body, onClose }: ApproveParts) {
  const approve = useAction('POST /approvals/:id/approve')
  const toast = useToasts()
  const [, go] = useLocation()
  const [fields, setFields] = useState<Record<string, string>>({})
  const schema = approval.question?.answer ?? null
  const size = chosen.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
  const isQuestion = approval.kind === 'question'
  const perform = async (reason: string | undefined) => {
    const answer = schema === null ? {} : { answer: readAnswer(schema, fields) }
    const result = await approve.mutateAsync({ params: { id: approval.id }, body: { ...body, ...answer, reason } })
    if (result.status === 'open')
      return toast(`Your word counts. ${countOf(result.missing, 'more person', 'more people')} decide.`)
    toast(isQuestion ? 'Answered; the run goes on.' : `Approved ${countOf(result.granted, nounOf(approval.kind))}.`)
    if (result.next !== null) go(`/approvals/${result.next}`)
  }
  return (
    <Confirm
      title={isQuestion ? approval.why : `Approve ${countOf(chosen.length, nounOf(approval.kind))}?`}
      action={isQuestion ? 'Answer yes' : `Approve ${countOf(chosen.length, nounOf(approval.kind))}`}
      isDangerous={!isQuestion}
      onClose={onClose}
      perform={perform}
    >
      {chosen.length > 0 && (
        <p>
          {approval.kind === 'repair'
            ? 'Exactly these are made up, and start their workflows. All others stay lost.'
            : `Exactly these begin, ${formatBytes(size)} in all, each only in the state that the list shows. All others stay as they are.`}
        </p>
      )}
      {schema !== null && <AnswerFields schema={schema} fields={fields} setFields={setFields} />}
    </Confirm>
  )
}

function DenyDialog({ approval, hash, onClose }: { approval: Approval; hash: string; onClose: () => void }) {
  const deny = useAction('POST /approvals/:id/deny')
  const toast = useToasts()
  const perform = async (reason: string | undefined) => {
    const { woken } = await deny.mutateAsync({ params: { id: approval.id }, body: { hash, reason } })
    toast(`Denied; ${countOf(woken, 'run goes', 'runs go')} on without it.`)
  }
  return (
    <Confirm title="Deny the whole list?" action="Deny" isDangerous onClose={onClose} perform={perform}>
      <p>Nothing of it happens. Each step fails with the code “denied”, which its workflow may handle.</p>
    </Confirm>
  )
}
