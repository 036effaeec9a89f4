import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { cron } from '../../src/author/cron.ts'
import { defineWorkflow } from '../../src/author/define-workflow.ts'
import { findFreePort } from '../support/free-port.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { startTestApp } from '../support/test-app.ts'
import { testConfig } from '../support/test-config.ts'
import { define } from '../support/workflows.ts'
import { hasPrometheus, promtool, WITH_PROMETHEUS } from '../watch/support/promtool.ts'

const SHIPPED = resolve(import.meta.dirname, '../../packaging/observability')
const RULES = join(SHIPPED, 'prometheus/upshot.rules.yml')

interface Target {
  expr: string
}
const dashboard = JSON.parse(readFileSync(join(SHIPPED, 'grafana/dashboards/upshot.json'), 'utf8')) as {
  panels: { title: string; targets: Target[] }[]
}
const expressions = dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const))

test.skipIf(!hasPrometheus)(`promtool passes the shipped rules and their tests${WITH_PROMETHEUS}`, () => {
  expect(promtool(['check', 'rules', RULES])).toMatchObject({ status: 0 })
  const tests = promtool(['test', 'rules', 'upshot.rules.test.yml'], '', join(SHIPPED, 'prometheus'))
  expect(tests).toMatchObject({ status: 0 })
  expect(promtool(['check', 'config', '--syntax-only', join(SHIPPED, 'prometheus/prometheus.yml')]).status).toBe(0)
})

test('every shipped alert fires in a test of the rules', () => {
  const tests = readFileSync(join(SHIPPED, 'prometheus/upshot.rules.test.yml'), 'utf8')
  const alerts = [...readFileSync(RULES, 'utf8').matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
  const fires = (name?: string) =>
    new RegExp(`alertname: ${name}\\s+exp_alerts:`).test(tests) || tests.includes(`{alertname="${name}"}`)
  expect(alerts.length).toBeGreaterThan(10)
  expect(alerts.filter((name) => !fires(name))).toEqual([])
})

test.skipIf(!hasPrometheus)(
  `every metric of the rules and every expression of the dashboard has data after real work${WITH_PROMETHEUS}`,
  async () => {
    const { urls, sandbox, hear } = await startTestApp(
      { workflows: [look, tick, hang, fail] },
      { config: { slots: 2, admin: { ...testConfig('').admin, metrics: 'open' } } },
    )
    const { ask, findExemplars } = await startPrometheus(new URL(urls.admin).host)
    await vi.waitFor(async () => expect(await ask('up == 1')).toHaveLength(1), { timeout: 30_000, interval: 200 })
    const storage = sandbox.storage('storage_a')
    await storage.put('/in/first.txt', 'first')
    await hear('run.failed')
    const whenFull = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 500 })
    await whenFull(async () => {
      const empty = []
      for (const [title, expr] of expressions) if ((await ask(fill(expr))).length === 0) empty.push([title, expr])
      expect(empty).toEqual([])
    })
    // One more than the files of the sample transfer.
    await whenFull(async () => {
      expect(await ask('sum(upshot_runs_ended_total{workflow="fail",outcome="failed"})')).toMatchObject([
        { value: [expect.any(Number), '4'] },
      ])
    })
    await whenFull(async () => {
      const labels = await findExemplars('upshot_run_duration_seconds_bucket')
      expect(labels).toContainEqual({ trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) })
    })
    // Both slots are held now, so that a tick has to wait in the queue.
    for (const name of ['one', 'two']) await storage.put(`/hang/${name}.txt`, name)
    await whenFull(async () => {
      // A sealed ledger has no row without a seal, and a file no server. Given workflows have no
      // thread of their own.
      const absent = /_ledger_unsealed_|^upshot_postgres_|^upshot_engine_/
      const names = metricsOf(readFileSync(RULES, 'utf8')).filter((name) => !absent.test(name))
      const empty = []
      for (const name of names) if ((await ask(name)).length === 0) empty.push(name)
      expect(empty).toEqual([])
    })
  },
)

const look = define('look', { on: 'file.created' }, async ({ event, files, step }) => {
  const { id } = event.data.file as { id: string }
  await files.get({ service: 'storage_a', id })
  await step.run('note', () => 'seen')
})
const fail = define('fail', { on: 'file.created' }, ({ step }) =>
  step.run('fail', () => Promise.reject(new Error('no luck')), { retry: { attempts: 1 } }),
)
/** Keeps a slot until the app stops. */
const hang = defineWorkflow({
  id: 'hang',
  on: 'file.created',
  where: (event) => JSON.stringify(event).includes('/hang/'),
  run: ({ step }) =>
    step.run('hang', ({ signal }) => new Promise((done) => signal.addEventListener('abort', () => done(null)))),
})
const tick = defineWorkflow({ id: 'tick', on: cron('* * * * * *'), run: () => null })

/** An expression as Grafana would send it, with every value of its variables. */
function fill(expr: string): string {
  return expr.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*')
}

function metricsOf(text: string): string[] {
  return [...new Set(text.match(/\bupshot_\w+/g))]
}

interface Prometheus {
  /** The result of an expression. */
  ask(expr: string): Promise<unknown[]>
  /** The labels of the exemplars of a metric. */
  findExemplars(metric: string): Promise<object[]>
}

/** Starts the real Prometheus with the shipped rules. */
async function startPrometheus(target: string): Promise<Prometheus> {
  const folder = tempFolder()
  const port = await findFreePort()
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [RULES],
    scrape_configs: [{ job_name: 'upshot', static_configs: [{ targets: [target] }] }],
  }
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config))
  const options = {
    'config.file': join(folder, 'prometheus.yml'),
    'storage.tsdb.path': join(folder, 'data'),
    'web.listen-address': `127.0.0.1:${port}`,
    'enable-feature': 'exemplar-storage',
  }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const process = spawn('prometheus', flags, { stdio: 'ignore' })
  onTestFinished(async () => {
    process.kill()
    if (process.exitCode === null) await once(process, 'exit')
  })
  const get = async <T>(path: string, query: Record<string, string>): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}?${new URLSearchParams(query)}`)
    const { status, data, error } = (await answer.json()) as { status: string; error?: string; data: T }
    if (status !== 'success') throw new Error(`${query.query}: ${error}`)
    return data
  }
  return {
    ask: async (query) => (await get<{ result: unknown[] }>('query', { query })).result,
    async findExemplars(query) {
      const range = { start: String(Date.now() / 1_000 - 3_600), end: String(Date.now() / 1_000 + 60) }
      const found = await get<{ exemplars: { labels: object }[] }[]>('query_exemplars', { query, ...range })
      return found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels))
    },
  }
}
