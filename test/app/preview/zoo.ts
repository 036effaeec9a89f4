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
const inside = (name: string, code: string, call: string): Animal => ({ name, code, call })
const inProcess = (name: string, given = '') =>
  inside(`process.${name}`, `process.${name}(${given})`, `process.${name}`)

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
    name: 'inspector.Session',
    code: `const session = new inspector.Session()
    session.connect()
    await new Promise((done) => session.post('Runtime.evaluate', {
      expression: "process.getBuiltinModule('fs').writeFileSync('" + D + "/debugged', '')", }, done))`,
    call: 'inspector.Session.connect',
  },
  {
    name: 'inspector of promises',
    code: `new (process.getBuiltinModule('inspector/promises').Session)().connect()`,
    call: 'inspector.Session.connect',
  },
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
  {
    name: 'module.register',
    code: `module.register('data:text/javascript,await fetch("' + U + '").catch(() => {})')`,
    call: 'worker thread',
  },
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
  file('utimes', 'fs.utimesSync(D + "/kept", 1, 1)'),
  file('chmod', 'fs.chmodSync(D + "/kept", 0o777)'),
  file('link', 'fs.linkSync(D + "/kept", D + "/hard")'),
  file('copyFile', 'fs.copyFileSync(D + "/kept", D + "/copy")'),
  file('unlink', 'await fs.promises.unlink(D + "/kept")'),
  file('mkdtemp', 'fs.mkdtempSync(D + "/a")'),
  file(
    'a trace of events',
    `process.getBuiltinModule('trace_events').createTracing({ categories: ['node'] }).enable()`,
  ),
]

/** Ways out that a hook of their own closes. */
const HOOKED: Animal[] = [
  inside('UDP connect', wait(`dgram.createSocket('udp4').connect(P, '127.0.0.1', done)`), 'dgram.connect'),
  inside('UDP group', `dgram.createSocket('udp4').addMembership('224.0.0.114')`, 'dgram.addMembership'),
  inside('DNS lookup', wait(`dns.lookup('example.org', done)`), 'dns.lookup'),
  inside('DNS lookup promise', `await dns.promises.lookup('example.org')`, 'dns.lookup'),
  inside(
    'DNS resolver of promises',
    `await new dns.promises.Resolver().resolve4('example.org')`,
    'dns.promises.Resolver.resolve4',
  ),
  inside('a request made by hand', wait(`new http.ClientRequest(U).on('error', fail).end(done)`), 'http GET'),
  inProcess('_kill', 'process.ppid, 0'),
  inProcess('reallyExit', '3'),
  inProcess('disconnect'),
  inProcess('setuid', 'process.getuid()'),
  inProcess('setgid', 'process.getgid()'),
  inProcess('seteuid', 'process.getuid()'),
  inProcess('setegid', 'process.getgid()'),
  inProcess('setgroups', 'process.getgroups()'),
  inProcess('initgroups', 'process.getuid(), process.getgid()'),
  inProcess('umask', '0o22'),
  inProcess('_debugProcess', 'process.pid'),
  inProcess('_debugEnd'),
  inside('exec of this process', `process.execve('/bin/true', [])`, 'child process'),
  inside(
    'inspector of the main thread',
    'new inspector.Session().connectToMainThread()',
    'inspector.Session.connectToMainThread',
  ),
  inside('an addon', `process.dlopen({ exports: {} }, D + '/kept')`, 'native addon'),
  inside('WASI', `new (process.getBuiltinModule('wasi').WASI)({ version: 'preview1', preopens: { '/': D } })`, 'WASI'),
  inside('sqlite attach', `new sqlite.DatabaseSync(':memory:').exec("ATTACH '" + D + "/new.db' AS other")`, 'sqlite'),
  inside('sqlite vacuum', `new sqlite.DatabaseSync(':memory:').exec("VACUUM INTO '" + D + "/new.db'")`, 'sqlite'),
  inside(
    'sqlite opened later',
    `const later = new sqlite.DatabaseSync(':memory:', { open: false })
    later.open()
    later.exec("ATTACH '" + D + "/new.db' AS other; CREATE TABLE other.a (b)")`,
    'sqlite',
  ),
  inside(
    'sqlite that authorizes by itself',
    `const own = new sqlite.DatabaseSync(':memory:')
    own.setAuthorizer(() => 0)
    own.exec("ATTACH '" + D + "/new.db' AS other; CREATE TABLE other.a (b)")`,
    'sqlite',
  ),
  inside('sqlite backup', `await sqlite.backup(new sqlite.DatabaseSync(':memory:'), D + '/new.db')`, 'sqlite.backup'),
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
  {
    name: 'a result declared for plans',
    code: `await step.run('act', () => 1, { dry: () => fetch(U).catch(() => 1) })`,
    call: 'fetch GET',
    tells: 'completed',
  },
  {
    name: 'POST by hand in a read',
    code: `await step.run('look', () => { new http.ClientRequest(U, { method: 'POST' }).on('error', () => {}).end() },
      { effect: 'read' })`,
    call: 'http POST',
  },
  {
    name: 'fetch of a Request with options in a read',
    code: `await step.run('look', 
      () => fetch(new Request(U, { method: 'PUT' }), { redirect: 'error' }), { effect: 'read' })`,
    call: 'fetch PUT',
  },
  {
    name: 'options that override a Request in a read',
    code: `await step.run('look', () => fetch(new Request(U), { method: 'DELETE' }), { effect: 'read' })`,
    call: 'fetch DELETE',
  },
  {
    name: 'fetch that nobody awaits',
    code: `fetch(U)
      await new Promise((done) => setTimeout(done, 5))`,
    call: 'fetch GET',
    tells: 'completed',
  },
  {
    name: 'an error in a timer',
    code: `setTimeout(() => { throw new Error('late') }, 1)
      await new Promise((done) => setTimeout(done, 60_000))`,
    call: null,
    tells: 'failed',
  },
  {
    name: 'a database in memory',
    code: `const db = new sqlite.DatabaseSync(':memory:')
      db.exec("ATTACH ':memory:' AS other; CREATE TABLE other.a (b); VACUUM")`,
    call: null,
    tells: 'completed',
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

export const ZOO: readonly Animal[] = [...OUTSIDE, ...HOOKED, ...PLACES, ...VERBS]

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
    'module',
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
export default defineWorkflow({ id: 'zoo-${index}', on: 'zoo', async run({ event, step, files, now }) {
  ${animal.code}
} })`
}
