import type { Notice } from '../../src/core/notices.ts'
import { systemClock } from '../../src/core/time.ts'
import { collectProcess, expose } from '../../src/watch/metrics/expose.ts'
import { NoticeCounts } from '../../src/watch/metrics/notice-counts.ts'
import { answerCalls } from '../processes/answer-calls.ts'

/** The notices of a delivery and its run of three steps, in the order in which the app has them. */
function runNotices(workflow: string): Notice[] {
  const root = { kind: 'event', account: 'default', event: 'evt_1' } as const
  const about = { run: 'run_1', workflow, root }
  const step = { kind: 'step.completed', ...about, effect: 'write', target: null, attempt: 1, ms: 1 } as const
  const delivery = { delivery: 'dlv_1', endpoint: 'end_1', account: 'default', event: 'evt_1' } as const
  const facts = {
    endpointName: 'main',
    type: 'file.created',
    subject: null,
    runs: 1,
    workflows: [workflow],
    facts: {},
    ms: 1,
  }
  return [
    { kind: 'delivery.received', verdict: 'accepted', ...delivery, ...facts },
    { kind: 'run.queued', count: 1 },
    { kind: 'run.started', ...about, origin: 'event', waitedMs: 1 },
    { ...step, step: 'one' },
    { ...step, step: 'two' },
    { ...step, step: 'three' },
    { kind: 'run.completed', ...about, parentRun: null, ms: 3, steps: 3 },
  ]
}

answerCalls({
  /** Microseconds of processor time that counting the notices of a run takes. */
  async microsPerRun(runs: number): Promise<number> {
    const counts = new NoticeCounts(systemClock)
    const notices = runNotices('verify')
    const repeat = (times: number) => {
      for (let run = 0; run < times; run++) for (const notice of notices) counts.count(notice)
    }
    repeat(runs / 10)
    const before = process.cpuUsage()
    repeat(runs)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / runs
  },
  /** Milliseconds to write the answer to a scrape of at least this many series, in the median. */
  async scrapeMs(series: number): Promise<number> {
    const counts = new NoticeCounts(systemClock)
    for (let n = 0; countLines(await text(counts)) < series; n++) {
      for (const notice of runNotices(`workflow-${n}`)) counts.count(notice)
    }
    const times: number[] = []
    for (let round = 0; round < 21; round++) {
      const startedAt = performance.now()
      await text(counts)
      times.push(performance.now() - startedAt)
    }
    return times.sort((a, b) => a - b)[10] ?? Number.NaN
  },
})

const node = collectProcess()

async function text(counts: NoticeCounts): Promise<string> {
  return (await expose(counts.book.families, node, 'application/openmetrics-text')).text
}

function countLines(answer: string): number {
  return answer.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
}
