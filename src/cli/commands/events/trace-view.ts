import { VERDICTS, type Verdict } from '../../../core/incoming/delivery.ts'
import { RUN_STATUSES } from '../../../core/runs/run.ts'
import { formatMoment, formatSpan, formatText, withIsoTimes } from '../../terminal/format-value.ts'
import type { Output, Style } from '../../terminal/output.ts'
import { styleVerdict } from '../deliveries/delivery-view.ts'
import { styleStatus } from '../runs/run-view.ts'
import type { TraceNode } from './event-trace.ts'

const MAX_LENGTHS = { subject: 200, name: 60, about: 60, note: 120 } as const

/** A trace for JSON: its times as text. */
export function describeTrace({ children, ...node }: TraceNode): Record<string, unknown> {
  return { ...withIsoTimes(node), children: children.map(describeTrace) }
}

/** A trace for a person: one line per node, behind the branches of the tree. */
export function formatTrace(root: TraceNode, now: number, paint: Output['paint']): string[] {
  const lines = [formatNode(root, now, paint)]
  const grow = ({ children }: TraceNode, stem: string) => {
    children.forEach((child, index) => {
      const isLast = index === children.length - 1
      lines.push(paint('dim', `${stem}${isLast ? '└─ ' : '├─ '}`) + formatNode(child, now, paint))
      grow(child, `${stem}${isLast ? '   ' : '│  '}`)
    })
  }
  grow(root, '')
  return lines
}

function formatNode(node: TraceNode, now: number, paint: Output['paint']): string {
  const { kind, name, about, status, effect, note, startedAt, finishedAt } = node
  const style = styleOf(node)
  const parts = [
    kind === 'subject' || kind === 'cut' ? null : paint('dim', kind),
    paint('bold', formatText(name, kind === 'subject' ? MAX_LENGTHS.subject : MAX_LENGTHS.name)),
    about === null ? null : formatText(about, MAX_LENGTHS.about),
    effect === null || effect === 'read' ? null : effect,
    status === null ? null : style === null ? status : paint(style, status),
    formatSpan(startedAt, finishedAt) ?? formatMoment(startedAt, now),
    note === null ? null : formatText(`(${note})`, MAX_LENGTHS.note),
  ]
  return parts.filter((part) => part !== null).join(' ')
}

function styleOf({ kind, status }: TraceNode): Style | null {
  if (kind === 'attempt') return 'red'
  if (status !== null && kind === 'delivery' && status in VERDICTS) return styleVerdict(status as Verdict)
  const known = RUN_STATUSES.find((each) => each === status)
  return known === undefined ? null : styleStatus({ status: known })
}
