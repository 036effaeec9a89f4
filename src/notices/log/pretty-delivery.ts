import { columnsOf, cutEnd, cutFront, type Fit, oneLine, wrapped, wrapText } from './fit-text.ts'
import type { LogLine } from './plan-log-line.ts'

/** The end of the message that stands for many like lines. */
export const REPEATEDLY = ', repeatedly'

/** Columns that a path gets at most, and keeps at least. */
const MAX_SUBJECT = 40
const MIN_SUBJECT = 14
const GAP = '  '

/** The path, the verdict where it is not plain, and the workflows that the event started. */
export function fitDelivery({ message, fields }: LogLine): Fit {
  const { subject, workflows = [] } = fields as { subject?: string | null; workflows?: readonly string[] }
  const said = shortenVerdict(message)
  return (room) => {
    const path = oneLine(subject ?? '')
    const left = room - Math.min(columnsOf(path), MIN_SUBJECT) - GAP.length
    // A long verdict goes on below: it is a warning.
    const isApart = columnsOf(said) > left
    const end = said === '' || isApart ? fitWorkflows(workflows, left) : said
    const longest = Math.min(MAX_SUBJECT, end === '' ? room : room - columnsOf(end) - GAP.length)
    const first = [cutFront(path, longest), end].filter((part) => part !== '').join(GAP)
    return isApart ? [first, ...wrapText(said, room, 4)] : [first]
  }
}

function shortenVerdict(message: string): string {
  if (message === 'delivery accepted') return ''
  if (message.startsWith('delivery accepted; no workflow')) return 'starts no workflow'
  return message.replace('delivery ', '')
}

/** As many whole names as there is room for, and the number of the others. */
function fitWorkflows(workflows: readonly string[], room: number): string {
  if (workflows.length === 0) return ''
  for (let shown = workflows.length; shown > 0; shown--) {
    const rest = workflows.length - shown
    const text = `→ ${workflows.slice(0, shown).join(', ')}${rest === 0 ? '' : ` +${rest}`}`
    if (columnsOf(text) <= room) return text
  }
  const text = workflows.length === 1 ? `→ ${workflows[0]}` : `→ ${workflows.length} workflows`
  return cutEnd(text, room)
}

/** Why a delivery was refused, and how often where the line stands for many. */
export function fitRefusal({ message, fields }: LogLine): Fit {
  const { verdict, reason, header, contentType, contentLength, skewSeconds, count } = fields
  const times = message.endsWith(REPEATEDLY) ? ` ×${count}` : ''
  const why = [
    verdict,
    reason,
    header,
    verdict === 'wrong_type' ? contentType : undefined,
    verdict === 'too_large' && contentLength !== undefined ? `${contentLength} bytes` : undefined,
    skewSeconds === undefined ? undefined : `${skewSeconds} s off our clock`,
  ].filter((part) => part !== undefined && part !== null)
  return wrapped(`refused${times}: ${why.map((part) => String(part).replaceAll('_', ' ')).join(', ')}`)
}
