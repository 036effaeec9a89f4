import type { Command } from '@commander-js/extra-typings'
import type { AnswerOf } from '../../../admin/contract/routes.ts'
import { isPlainObject } from '../../../core/json.ts'
import type { Cli } from '../../command.ts'
import { call, type Operations } from '../../open/operations.ts'
import { formatBytes, formatMoment, formatSpan, formatText } from '../../terminal/format-value.ts'
import type { Output, Style } from '../../terminal/output.ts'
import { formatFacts, formatRows, formatSection, type Layout } from '../../terminal/table.ts'
import { DELIVERY_COLUMNS, describeRefusal, styleVerdict } from '../deliveries.ts'
import { describeOrigin, describeReason, EVENT_RUN_COLUMNS, styleStatus } from '../runs/run-view.ts'

const LINES_SHOWN = 60

export function define(command: Command, { out, project }: Cli): void {
  command
    .argument('<id>', 'id of the event, or its beginning')
    .option('--account <name>', 'account of the event, if several have one with this id')
    .option('--data', 'show its data alone, whatever its size')
    .option('--trace', 'show all that it caused as a tree: runs, steps, calls, failed attempts, later runs')
    .option('--redacted', 'show its type and data with other texts of the same form, to show it to others')
    .action((id, { account, data: isData = false, trace: isTrace = false, redacted: isRedacted = false }) =>
      project.withOperations(async (operations) => {
        const params = { id }
        const query = { account }
        if (isRedacted) {
          const redacted = await call(operations, 'GET /events/:id/redacted', { params, query })
          return out.result(redacted, () => formatJson(redacted))
        }
        if (isData) {
          const data = await readWhole(operations, { params, query })
          return out.result(data, () => formatJson(data))
        }
        const event = await call(operations, 'GET /events/:id', { params, query })
        if (isTrace) {
          const trace = await call(operations, 'GET /events/:id/trace', { params, query: { ...query, steps: 'true' } })
          return out.result(trace, () => formatTrace(event, trace.nodes, out.paint))
        }
        out.result(event, () => formatDetails(event, out))
      }),
    )
}

function formatJson(content: unknown): string[] {
  return JSON.stringify(content, null, 2)
    .split('\n')
    .map((line) => formatText(line))
}

/** Characters of one part: few enough that nobody waits for it. */
const MAX_PART = 500_000

async function readWhole(
  operations: Operations,
  { params, query }: { params: { id: string }; query: { account?: string | undefined } },
): Promise<unknown> {
  let text = ''
  for (let after: number | null = 0; after !== null; ) {
    const part: AnswerOf<'GET /events/:id/data'> = await call(operations, 'GET /events/:id/data', {
      params,
      query: { ...query, after, limit: MAX_PART },
    })
    text += part.text
    after = part.next
  }
  return JSON.parse(text)
}

function formatDetails(event: Event, layout: Layout): string[] {
  const { deliveries, runs, absorbers } = event
  const { paint } = layout
  const facts = formatFacts([
    ['type', formatText(event.type, 300)],
    ['account', event.account],
    ['origin', event.origin],
    ['created', formatMoment(event.createdAt)],
    ['received', formatMoment(event.receivedAt)],
    ['size', formatBytes(event.bodyBytes)],
  ])
  // JSON.stringify escapes line breaks, so each line can be made safe on its own.
  const body = describeData(event)
  const cut = body.length > LINES_SHOWN ? [`… ${body.length - LINES_SHOWN} more lines with --json`] : []
  return [
    paint('bold', formatText(event.id)),
    ...facts,
    ...formatSection(
      'Data',
      [...body.slice(0, LINES_SHOWN), ...cut].map((line) => formatText(line, 200)),
      paint,
    ),
    ...formatRows('Deliveries', deliveries, DELIVERY_COLUMNS, layout),
    ...formatRows('Runs', runs, EVENT_RUN_COLUMNS, layout),
    ...formatRows('Folded into', absorbers, EVENT_RUN_COLUMNS, layout),
  ]
}

function describeData({ id, data, isPruned }: Event): string[] {
  if (data === null) return [isPruned ? '(pruned)' : `(larger than 64 KiB: upshot events show ${id} --data)`]
  return JSON.stringify(data, null, 2).split('\n')
}

type Event = AnswerOf<'GET /events/:id'>
type Node = AnswerOf<'GET /events/:id/trace'>['nodes'][number]
type Run = NonNullable<Node['run']>
type Step = NonNullable<Node['steps']>[number]

/** A line of the tree, and what hangs below it. */
interface Branch {
  line: string
  children: Branch[]
}

type Paint = Output['paint']

/** The parts of a line; what is null or empty is left out. */
interface Words {
  kind: string
  name: string
  about?: string | null
  effect?: string
  status?: string
  style?: Style | null
  time?: string | null
  note?: string | null
}

/** The tree of an event: its deliveries and runs, and everything that these caused. */
function formatTrace(event: Event, nodes: readonly Node[], paint: Paint): string[] {
  const below = Map.groupBy(nodes, ({ parent }) => parent)
  const deliveries = event.deliveries.toReversed().map((delivery) => formatDelivery(delivery, paint))
  const roots = (below.get(null) ?? []).map((node) => growNode(node, below, paint))
  const root: Branch = { line: roots[0]?.line ?? '', children: [...deliveries, ...(roots[0]?.children ?? [])] }
  if (event.subject === null) return drawTree(root, paint)
  return drawTree({ line: paint('bold', formatText(event.subject, 200)), children: [root] }, paint)
}

function drawTree(root: Branch, paint: Paint): string[] {
  const lines = [root.line]
  const grow = ({ children }: Branch, stem: string) => {
    for (const child of children) {
      const isLast = child === children.at(-1)
      lines.push(paint('dim', `${stem}${isLast ? '└─ ' : '├─ '}`) + child.line)
      grow(child, `${stem}${isLast ? '   ' : '│  '}`)
    }
  }
  grow(root, '')
  return lines
}

/** An event with its runs, or a run with its steps. A run that a step invoked is below the step. */
function growNode(node: Node, below: ReadonlyMap<string | null, Node[]>, paint: Paint): Branch {
  const { id, event, run, steps, isCut } = node
  const caused = below.get(id) ?? []
  const grow = (each: Node) => growNode(each, below, paint)
  const rest = run === null ? `upshot runs list --event ${id}` : `upshot runs show ${id}`
  const more = { line: `${paint('bold', '…')} (more: ${rest})`, children: [] }
  const cut = isCut || (run !== null && steps === null) ? [more] : []
  if (run === null) {
    const { type = null, receivedAt = null } = event ?? {}
    const line = tell({ kind: 'event', name: id, about: type, time: formatMoment(receivedAt) }, paint)
    return { line, children: [...caused.map(grow), ...cut] }
  }
  const keys = new Set(steps?.map(({ key }) => key))
  const done = (steps ?? []).map((step): Branch => {
    const made = caused.filter((each) => each.step === step.key).map(grow)
    return {
      line: formatStep(step, paint),
      children: [...step.failures.map((each) => formatAttempt(each, paint)), ...made],
    }
  })
  const others = caused.filter(({ step }) => step === null || !keys.has(step)).map(grow)
  return { line: formatRun(run, paint), children: [...done, ...others, ...cut] }
}

function tell({ kind, name, about, effect, status, style, time, note }: Words, paint: Paint): string {
  const parts = [
    paint('dim', kind),
    paint('bold', formatText(name, 60)),
    about && formatText(about, 60),
    effect !== 'read' && effect,
    status && (style ? paint(style, status) : status),
    time,
    note && formatText(`(${note})`, 120),
  ]
  return parts.filter(Boolean).join(' ')
}

function formatDelivery(delivery: Event['deliveries'][number], paint: Paint): Branch {
  const { id: name, endpoint: about, verdict: status, receivedAt } = delivery
  const words = {
    style: styleVerdict(status),
    time: formatMoment(receivedAt),
    note: describeRefusal(delivery),
  }
  return { line: tell({ kind: 'delivery', name, about, status, ...words }, paint), children: [] }
}

function formatRun(run: Run, paint: Paint): string {
  const { id: name, workflow, handler, status, folded, startedAt, createdAt, finishedAt } = run
  const notes = [folded > 0 && `${folded} folded into it`, describeOrigin(run), describeReason(run)]
  return tell(
    {
      kind: 'run',
      name,
      status,
      style: styleStatus(run),
      note: notes.filter(Boolean).join('; '),
      about: handler === 'run' ? workflow : `${workflow} (${handler})`,
      time: formatTime(startedAt ?? createdAt, finishedAt),
    },
    paint,
  )
}

function formatStep(step: Step, paint: Paint): string {
  const { key, kind, target, status, effect, startedAt, finishedAt } = step
  const call = /^files\.(\w+)/.exec(key)
  return tell(
    {
      ...(call ? { kind: 'call', name: call[0] } : { kind: kind === 'run' ? 'step' : kind, name: key }),
      about: kind === 'invoke' ? null : target,
      effect,
      status,
      style: styleStatus({ status }),
      time: formatTime(startedAt, finishedAt),
      note: describeEnd(step),
    },
    paint,
  )
}

function formatAttempt({ attempt, error }: Step['failures'][number], paint: Paint): Branch {
  const note = `${error.name}: ${error.message}`
  const words = { kind: 'attempt', name: String(attempt), status: 'failed', style: 'red', note } as const
  return { line: tell(words, paint), children: [] }
}

function formatTime(startedAt: string, finishedAt: string | null): string | null {
  return formatSpan(startedAt, finishedAt) ?? formatMoment(startedAt)
}

/** A step's outcome in words: of a delete, a download or a wait. */
function describeEnd({ kind, status, error, dueAt, output, outputBytes }: Step): string | null {
  if (status === 'failed') return error?.message ?? null
  if (status === 'waiting') return dueAt === null ? null : `until ${formatMoment(dueAt)}`
  if (status === 'started') return 'its outcome is not known yet'
  const isEvent = kind === 'wait' || kind === 'receive'
  // A large result is not told, and has more bytes than "null".
  if (isEvent && output === null && outputBytes === 4) return 'no event arrived in time'
  if (!isPlainObject(output)) return null
  if (isEvent) return `${output.id} arrived`
  const { outcome, proof, bytes } = output
  if (typeof outcome === 'string') return proof === 'verified' ? `${outcome}, verified` : outcome
  return typeof bytes === 'number' ? formatBytes(bytes) : null
}
