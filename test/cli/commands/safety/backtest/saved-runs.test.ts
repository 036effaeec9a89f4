import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { deliver } from '../../../../engine/support/files-in-runs.ts'
import { tempFolder } from '../../../../support/temp-folder.ts'
import { runHere } from '../../../support/run-here.ts'
import { openRecorded, TIDY, writeTidy } from './recorded-project.ts'

const SINCE = ['--since', '2020-01-01']
const FILES = ['tmp-a', 'tmp-b', 'mov-c', 'mov-d', 'mov-huge']

/** Saves a corpus of recorded runs, and previews it in a folder without a database. */
async function saveCorpus(files = FILES, code = TIDY, ...args: string[]) {
  const recorded = await openRecorded(files, code)
  const env = { UPSHOT_WORKFLOWS_DIR: writeTidy(code) }
  const file = join(tempFolder(), 'tidy.ndjson.gz')
  const save = (...more: string[]) =>
    runHere(recorded.folder, ['backtest', 'tidy', '--save', file, ...SINCE, ...args, ...more], { env })
  const preview = (run: string, ...more: string[]) =>
    runHere(tempFolder(), ['backtest', 'tidy', '--from', file, '--workflows', writeTidy(run), ...more])
  return { ...recorded, file, save, preview, lines: () => gunzipSync(readFileSync(file)).toString().trim().split('\n') }
}

const EDITS = [
  TIDY.replace(', { expect: file }', ''),
  TIDY.replace(`endsWith('.tmp')`, `includes('/in/')`),
  TIDY.replace(`return { decision: 'kept'`, `return x.y; return { decision: 'kept'`),
  TIDY.replace('if (file', `await step.run(['look', file.id], () => 2, { effect: 'read' })\n  if (file`),
]

test('a corpus gives what the database gives: groups, counts, bytes, questions and exit codes', async () => {
  const { backtest, save, preview, runs } = await saveCorpus(FILES, TIDY, '--keep', '/in/')
  expect((await save('--json')).json.data).toMatchObject({ runs: 5, leftOut: 0, noBody: 0, workflow: 'tidy' })
  const pick = ({ json, exit }: Awaited<ReturnType<typeof preview>>) => {
    const { groups, cannotSay, same, answered, unsteady, refused, guard } = json.data
    const counted = (each: { key?: string; question?: string; count: number; bytes?: number; samples: unknown[] }) => [
      each.key ?? each.question,
      each.count,
      each.bytes,
      each.samples.length,
    ]
    return { exit, same, answered, unsteady, refused, guard, groups: groups.map(counted), open: cannotSay.map(counted) }
  }
  const seen = new Set()
  for (const code of EDITS) {
    const [own, other] = [await backtest(code, '--outputs', '--json'), await preview(code, '--outputs', '--json')]
    expect(pick(other), code).toEqual(pick(own))
    seen.add(JSON.stringify(pick(own)))
    for (const { samples } of other.json.data.groups) expect(runs).toContain(samples[0].run)
  }
  expect(seen.size).toBe(EDITS.length)
})

const CANARY = 'Xq7canary'
const LEAKY = `async ({ event, step, tag, progress }) => {
  tag('person', event.data.person)
  progress(1, 2, event.data.person)
  await step.sleep('nap', '1m')
  const seen = await step.run(['open', event.data.person], () => ({
    downloadUrl: event.data.host + event.data.person + '?sig=' + event.data.nested.apiToken,
    [event.data.person]: 1,
    password: event.data.nested.apiToken,
    big: event.data.person.repeat(7000),
  }), { effect: 'read' })
  const input = { who: event.data.person }
  await step.run('note', () => event.data.person, { target: 'chat/' + event.data.person, input })
  await step.send('tell', 'tidy.done', { who: event.data.person, url: seen.downloadUrl })
  await step.run('check', () => { throw new TypeError('no ' + event.data.person) }, { retry: { attempts: 1 } })
}`

test('no value of an event, secret or download URL is in the file, wherever a run has it', async () => {
  const recorded = await saveCorpus([], LEAKY)
  const canaries = ['a', 'b', 'c'].map((sign) => `${CANARY}${sign}`)
  for (const [n, canary] of canaries.entries()) {
    const nested = { apiToken: `tok-${canary}`, list: [{ mail: `${canary}@example.org` }], [`by ${canary}`]: canary }
    const data = { person: canary, host: 'https://host.example/', path: `/${canary}/x.pdf`, nested }
    const run = await deliver(recorded, `evt_${canary}${n}`, 'file.created', data, 'tidy')
    await recorded.passOf(run)
    await recorded.advance(run, '1m')
  }
  const { json } = await recorded.save('--json')
  expect(json.data).toMatchObject({ runs: 3, leftOut: 0 })
  const text = recorded.lines().join('\n')
  // A failing test must not print the whole file.
  expect(/canary|example\.org|host\.example/i.exec(text)).toBe(null)
  expect(text).toContain('"password\\":\\"redacted')
  const { exit, json: previewed } = await recorded.preview(LEAKY, '--json')
  expect([exit, previewed.data]).toMatchObject([0, { same: 3, groups: [] }])
})

test('runs of code that decides by a replaced word are left out, unless the word is kept', async () => {
  const code = TIDY.replace(
    'file.path.endsWith',
    `Buffer.from('Y2hlY2s=', 'base64') && file.id.length > 3 && file.path.endsWith`,
  )
  // The two letters of "in", which another word has once in 676 times.
  const letters = `file.path.charCodeAt(1) * 256 + file.path.charCodeAt(2) === 26_990`
  const byHash = code.replace(`file.path.endsWith('.tmp')`, letters)
  const { save } = await saveCorpus(['tmp-a', 'mov-c'], byHash)
  const lost = await save()
  expect([lost.exit, lost.stderr]).toEqual([1, expect.stringContaining('2 runs are left out: their code decides')])
  expect(lost.stderr).toContain('or composes keys of steps from them')
  expect(lost.stderr).toContain('fix: Name words that are no secret with --keep.')
  expect((await save('--keep', 'in', '--json')).json.data).toMatchObject({ runs: 2, leftOut: 0 })
})

test('a run that lists a folder is saved', async () => {
  const code = `async ({ event, files }) => {
    const { items } = await files.snapshot({ service: 'storage_a', path: '/' + event.data.file }, { verify: false })
    return items.length
  }`
  const { save, preview } = await saveCorpus(['tmp-a'], code)
  expect((await save('--json')).json.data).toMatchObject({ runs: 1, leftOut: 0 })
  expect((await preview(code, '--json')).json.data).toMatchObject({ same: 1 })
})

test('accepted differences are in a file beside the corpus', async () => {
  const { file, save, preview } = await saveCorpus(['tmp-a'])
  await save()
  const edited = TIDY.replace(', { expect: file }', '')
  expect((await preview(edited)).exit).toBe(7)
  expect((await preview(edited, '--accept')).exit).toBe(0)
  const beside = file.replace('.ndjson.gz', '.accepted.json')
  expect(JSON.parse(readFileSync(beside, 'utf8'))).toEqual({
    accepted: ['~ delete files.delete storage_a `expect` → no `expect`'],
  })
  expect((await preview(edited)).exit).toBe(0)
})

test('a dry run writes nothing, and --sample takes so many runs', async () => {
  const { file, save, lines } = await saveCorpus()
  expect((await save('--dry-run')).exit).toBe(0)
  expect(existsSync(file)).toBe(false)
  const { stdout } = await save('--sample', '2')
  expect(stdout).toMatch(/: 2 runs of tidy, .*\nsha256 [0-9a-f]{64}\n/)
  expect(lines()).toHaveLength(4)
  expect((await save('--since', '2100-01-01')).exit).toBe(5)
})

test('a corpus that was cut off, edited, made longer or is of another workflow or version is refused', async () => {
  const { file, save, preview, lines } = await saveCorpus(['tmp-a', 'mov-c'])
  await save()
  const whole = readFileSync(file)
  const all = lines()
  const refused = async (content: Buffer | string[]) => {
    writeFileSync(file, Array.isArray(content) ? gzipSync(`${content.join('\n')}\n`) : content)
    const { exit, stderr } = await preview(TIDY)
    expect(exit).toBe(2)
    return stderr
  }
  const [head = '', one = '', ...rest] = all
  expect(await refused(whole.subarray(0, whole.length - 20))).toContain('is no whole corpus')
  expect(await refused(all.slice(0, -1))).toContain('do not fit the hash')
  expect(await refused([head, one.replace('completed', 'skipped'), ...rest])).toContain('do not fit the hash')
  expect(await refused([...all, one])).toContain('do not fit the hash')
  expect(await refused([head.replace('"corpus":2', '"corpus":9'), one, ...rest])).toContain('has version 9')
  expect(await refused(Buffer.from('no gzip'))).toContain('is no whole corpus')
  writeFileSync(file, whole)
  expect((await preview(TIDY, '--since', '7d')).stderr).toContain('--since cannot be given')
  expect((await preview(TIDY, '--reads', 'live')).stderr).toContain('--reads live cannot be given')
  const other = await runHere(tempFolder(), ['backtest', 'other', '--from', file])
  expect(other.stderr).toContain('has runs of "tidy", not of "other"')
})
