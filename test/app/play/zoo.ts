/** A way to act, as the body of a workflow's function. `U`: a server, `D`: a folder. */
export interface Animal {
  name: string
  code: string
  /** The refused call, as the plan names it; null: a verb, which nothing refuses. */
  call: string | null
  /** The kind of step, or the end, that the plan tells of; absent without a verb. */
  tells?: string
}

const wait = (what: string) => `await new Promise((done, fail) => { ${what} })`
const file = (name: string, code: string): Animal => ({ name, code, call: 'file write' })

/** Ways out of the process, outside of every step. */
const OUTSIDE: Animal[] = [
  { name: 'fetch GET', code: 'await fetch(U)', call: 'fetch GET' },
  { name: 'fetch POST', code: `await fetch(U, { method: 'POST' })`, call: 'fetch POST' },
  { name: 'fetch of a Request', code: `await fetch(new Request(U, { method: 'PUT' }))`, call: 'fetch PUT' },
  { name: 'http.get', code: wait(`http.get(U, done).on('error', fail)`), call: 'http GET' },
  {
    name: 'http.request',
    code: wait(`http.request(U, { method: 'DELETE' }, done).on('error', fail).end()`),
    call: 'http DELETE',
  },
  {
    name: 'https.request',
    code: wait(`https.request(U.replace('http', 'https'), { method: 'POST' }, done).on('error', fail).end()`),
    call: 'https POST',
  },
  {
    name: 'http2.connect',
    code: wait(`http2.connect(U).on('connect', done).on('error', fail)`),
    call: 'http2.connect',
  },
  { name: 'net.connect', code: wait(`net.connect(P, '127.0.0.1', done).on('error', fail)`), call: 'connect' },
  {
    name: 'Socket.connect',
    code: wait(`new net.Socket().connect(P, '127.0.0.1', done).on('error', fail)`),
    call: 'connect',
  },
  { name: 'tls.connect', code: wait(`tls.connect(P, '127.0.0.1', done).on('error', fail)`), call: 'connect' },
  {
    name: 'a module by its name',
    code: wait(`process.getBuiltinModule('net').connect(P, '127.0.0.1', done).on('error', fail)`),
    call: 'connect',
  },
  {
    name: 'a module by require',
    code: wait(`createRequire(import.meta.url)('http').get(U, done).on('error', fail)`),
    call: 'http GET',
  },
  { name: 'a name imported by itself', code: wait(`getByName(U, done).on('error', fail)`), call: 'http GET' },
  { name: 'listen', code: wait(`net.createServer().listen(0, done).on('error', fail)`), call: 'net.Server.listen' },
  { name: 'UDP send', code: wait(`dgram.createSocket('udp4').send('x', P, '127.0.0.1', done)`), call: 'dgram.send' },
  { name: 'UDP bind', code: wait(`dgram.createSocket('udp4').bind(0, done)`), call: 'dgram.bind' },
  { name: 'DNS query', code: wait(`dns.resolve4('example.org', done)`), call: 'dns.resolve4' },
  { name: 'DNS promise', code: `await dns.promises.resolveTxt('example.org')`, call: 'dns.promises.resolveTxt' },
  {
    name: 'DNS resolver',
    code: wait(`new dns.Resolver().resolve4('example.org', done)`),
    call: 'dns.Resolver.resolve4',
  },
  { name: 'WebSocket', code: `new WebSocket(U.replace('http', 'ws'))`, call: 'WebSocket' },
  { name: 'EventSource', code: 'new EventSource(U)', call: 'EventSource' },
  { name: 'process.kill', code: `process.kill(process.ppid, 'SIGUSR2')`, call: 'process.kill' },
  { name: 'process.exit', code: 'process.exit(3)', call: 'process.exit' },
  { name: 'process.abort', code: 'process.abort()', call: 'process.abort' },
  { name: 'process.send', code: `process.send({ answer: 1, value: 'forged' })`, call: 'process.send' },
  { name: 'process.chdir', code: `process.chdir('/')`, call: 'process.chdir' },
  { name: 'os.setPriority', code: 'os.setPriority(process.ppid, 19)', call: 'os.setPriority' },
  { name: 'sqlite file', code: 'new sqlite.DatabaseSync(D + "/new.db").exec("CREATE TABLE a (b)")', call: 'sqlite' },
  { name: 'inspector.open', code: 'inspector.open(0)', call: 'inspector.open' },
  {
    name: 'process.report',
    code: 'process.report.writeReport(D + "/report.json")',
    call: 'process.report.writeReport',
  },
  {
    name: 'spawn',
    code: wait(`child.spawn('touch', [D + '/spawned']).on('exit', done).on('error', fail)`),
    call: 'child process',
  },
  { name: 'execFileSync', code: `child.execFileSync('touch', [D + '/run'])`, call: 'child process' },
  { name: 'fork', code: `child.fork(D + '/kept')`, call: 'child process' },
  { name: 'Worker', code: `new threads.Worker('1', { eval: true })`, call: 'worker thread' },
  file('writeFileSync', 'fs.writeFileSync(D + "/new", "x")'),
  file('writeFile', 'await fs.promises.writeFile(D + "/new", "x")'),
  file('appendFile', 'await fs.promises.appendFile(D + "/kept", "x")'),
  file('a write stream', wait('fs.createWriteStream(D + "/new").on("error", fail).end("x", done)')),
  file('open for writing', 'fs.openSync(D + "/kept", "r+")'),
  file('mkdir', 'fs.mkdirSync(D + "/folder")'),
  file('rm', 'fs.rmSync(D + "/kept")'),
  file('rename', 'fs.renameSync(D + "/kept", D + "/moved")'),
  file('symlink', 'fs.symlinkSync(D + "/kept", D + "/link")'),
  file('truncate', 'fs.truncateSync(D + "/kept")'),
  file('a heap snapshot', 'v8.writeHeapSnapshot(D + "/heap")'),
]

/** Places where a call looks as if a step had made it. */
const PLACES: Animal[] = [
  {
    name: 'POST in a read',
    code: `await step.run('look', () => fetch(U, { method: 'POST' }), { effect: 'read' })`,
    call: 'fetch POST',
  },
  {
    name: 'UDP in a read',
    code: `await step.run('look', () => { dgram.createSocket('udp4').send('x', P, '127.0.0.1') }, { effect: 'read' })`,
    call: 'dgram.send',
  },
  {
    name: 'file in a read',
    code: 'await step.run("look", () => fs.writeFileSync(D + "/new", "x"), { effect: "read" })',
    call: 'file write',
  },
  {
    name: 'after its read',
    code: `const later = () => setTimeout(() => fetch(U).catch(() => {}), 5)
      await step.run('look', () => { later(); return 1 }, { effect: 'read' })
      await new Promise((done) => setTimeout(done, 30))`,
    call: 'fetch GET',
  },
  {
    name: 'in a timer',
    code: `await new Promise((done, fail) => setTimeout(() => fetch(U).then(done, fail), 1))`,
    call: 'fetch GET',
  },
  { name: 'in finally', code: `try { throw new Error('x') } finally { await fetch(U) }`, call: 'fetch GET' },
  { name: 'caught', code: 'try { await fetch(U) } catch {}', call: 'fetch GET' },
  {
    name: 'through another function',
    code: `await Reflect.apply(globalThis.fetch, null, [U, { method: 'PATCH' }])`,
    call: 'fetch PATCH',
  },
]

/** The verbs, each of which would act in a run. */
const VERBS: Animal[] = [
  { name: 'a write', code: `await step.run('act', () => fetch(U, { method: 'POST' }))`, call: null, tells: 'write' },
  {
    name: 'a delete',
    code: `await step.run('act', () => fetch(U), { effect: 'delete' })`,
    call: null,
    tells: 'delete',
  },
  {
    name: 'a write that happens once',
    code: `await step.run('act', () => fetch(U), { once: true })`,
    call: null,
    tells: 'write',
  },
  {
    name: 'a read that happens once',
    code: `await step.run('act', () => fetch(U), { once: true, effect: 'read' })`,
    call: null,
    tells: 'run',
  },
  { name: 'a map', code: `await step.map('act', [1, 2], String, () => fetch(U))`, call: null, tells: 'write' },
  { name: 'an event', code: `await step.send('act', 'zoo.told', { n: 1 })`, call: null, tells: 'send' },
  {
    name: 'a run',
    code: `await step.invoke('act', { kind: 'workflow', id: 'zoo-child', on: 'zoo.told', run: () => 1 }, { data: {} })`,
    call: 'fetch GET',
    tells: 'invoke',
  },
  { name: 'a question', code: `await step.approve('act', { ask: 'Shall I?' })`, call: null, tells: 'approve' },
  { name: 'a wait', code: `await step.waitFor('act', { on: 'zoo.told', timeout: '1h' })`, call: null, tells: 'wait' },
  {
    name: 'a receive',
    code: `await step.receive('act', { on: 'zoo.told', timeout: '1h' })`,
    call: null,
    tells: 'receive',
  },
  { name: 'a sleep', code: `await step.sleep('act', '1h')`, call: null, tells: 'sleep' },
  {
    name: 'files.delete',
    code: `await files.delete({ service: 'storage_a', id: event.data.file })`,
    call: null,
    tells: 'delete',
  },
  {
    name: 'files.deleteAll',
    code: `await files.deleteAll((await files.snapshot({ service: 'storage_a' })).items)`,
    call: null,
    tells: 'delete',
  },
  {
    name: 'files.download',
    code: 'await files.download({ service: "storage_a", id: event.data.file }, { to: D + "/bytes" })',
    call: null,
    tells: 'open',
  },
  {
    name: 'files.downloadUrl',
    code: `const { url } = await files.downloadUrl({ service: 'storage_a', id: event.data.file }); return url.reveal()`,
    call: null,
    tells: 'run',
  },
  { name: 'continueAs', code: `await step.continueAs({ data: {} })`, call: null, tells: 'continued' },
]

export const ZOO: readonly Animal[] = [...OUTSIDE, ...PLACES, ...VERBS]

/** The module of one animal. */
export function moduleOf(animal: Animal, index: number, world: { url: string; folder: string; door: string }): string {
  const names = [
    'child_process as child',
    'dgram',
    'dns',
    'fs',
    'http',
    'http2',
    'https',
    'inspector',
    'net',
    'os',
    'sqlite',
    'tls',
    'v8',
    'worker_threads as threads',
  ]
  const imports = names.map((name) => {
    const [from = '', as = from] = name.split(' as ')
    return `import ${as} from 'node:${from}'`
  })
  return `${imports.join('\n')}
import { get as getByName } from 'node:http'
import { createRequire } from 'node:module'
import { defineWorkflow } from '${world.door}'
const U = '${world.url}', P = ${new URL(world.url).port}, D = '${world.folder}'
export default defineWorkflow({ id: 'zoo-${index}', on: 'zoo', async run({ event, step, files }) {
  ${animal.code}
} })`
}
