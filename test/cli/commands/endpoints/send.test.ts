import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventBody } from '../../../support/fixtures.ts'
import { listen } from '../../../support/listen.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { runCli } from '../../support/run-cli.ts'
import { runHere } from '../../support/run-here.ts'
import { startShop } from '../../support/start-shop.ts'

test('endpoints send signs the bytes of a file, posts them to any URL, and prints the answer', async () => {
  const { dataDir, url, secret } = await startShop()
  const file = join(dataDir, 'body.json')
  writeFileSync(file, `${eventBody('evt_sent')}\n\n`)
  const env = { KEY: secret }
  const send = (args: string[], to = url) =>
    runHere(tempFolder(), ['endpoints', 'send', to, '--secret-env', 'KEY', ...args], { env })
  const pipe = ['endpoints', 'send', url, '--secret-env', 'KEY', '--file', '-']
  const sent = await send(['--file', file, '--json'])
  expect(sent).toMatchObject({ exit: 0, json: { data: { status: 200, verdict: 'accepted' } } })
  expect(JSON.parse(sent.json.data.answer)).toMatchObject({ success: true, data: { event: 'evt_sent' } })
  const [piped, sample, wrong, gone] = await Promise.all([
    runCli(tempFolder(), pipe, { env, input: `${eventBody('evt_sent')}\n\n` }),
    send(['--json']),
    send(['--scheme', 'base64']),
    send(['--json'], 'http://127.0.0.1:9/hooks/none'),
  ])
  expect(piped?.stdout).toMatch(/^HTTP 200 {2}duplicate\n/)
  expect(sample?.json.data).toMatchObject({ verdict: 'accepted' })
  expect(wrong).toMatchObject({ exit: 7, stdout: expect.stringMatching(/^HTTP 401\n.*refused/s) })
  expect(gone).toMatchObject({ exit: 6, json: { error: { code: 'not_running' } } })
})

test('endpoints send --dry-run posts nothing', async () => {
  let posts = 0
  const url = await listen(createServer((_request, response) => response.end(String(++posts))))
  const args = ['endpoints', 'send', `${url}/any`, '--secret-env', 'KEY', '--dry-run']
  const { exit, stdout } = await runHere(tempFolder(), args, { env: { KEY: 'x'.repeat(24) } })
  expect([exit, posts]).toEqual([0, 0])
  expect(stdout).toMatch(/^This would post \d+ signed bytes to http:/)
})

test('endpoints send follows no redirect of a foreign server, and prints its answer safely', async () => {
  const seen: { headers: NodeJS.Dict<string | string[]>; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ headers: request.headers, body })
    response.writeHead(302, { location: '/elsewhere' }).end('\u001B[2Jmoved\nthere')
  })
  const url = `${await listen(server)}/any/path?x=1`
  const args = [
    'endpoints',
    'send',
    url,
    '--secret-env',
    'KEY',
    '--scheme',
    'sha256-prefix',
    '--header',
    'X-Hub-Signature-256',
  ]
  const file = join(tempFolder(), 'hello.txt')
  writeFileSync(file, 'Hello, World!')
  const { exit, stdout } = await runHere(tempFolder(), [...args, '--file', file], {
    env: { KEY: "It's a Secret to Everybody" },
  })
  expect([exit, stdout]).toEqual([7, 'HTTP 302\n␛[2Jmoved\nthere\n'])
  expect(seen).toHaveLength(1)
  expect(seen[0]).toMatchObject({
    body: 'Hello, World!',
    // GitHub's published example.
    headers: { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
  })
})
