import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium } from 'playwright-core'

const ROOT = resolve(import.meta.dirname, '..')
const PICTURE = join(ROOT, 'docs/images/dashboard.png')
const SIZE = { width: 1280, height: 640 }
const EVENTS = ['transfer.completed', 'transfer.failed', 'file.created', 'transfer.completed', 'transfer.failed']
const BROWSER = '/usr/bin/chromium'

/** Takes the picture of the README from the running app with its sandbox. Needs a Chromium. */
async function takePicture(): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'upshot-picture-'))
  const env = { ...process.env, UPSHOT_DATA_DIR: data, UPSHOT_PORT: '0', UPSHOT_ADMIN_PORT: '0' }
  Object.assign(env, { UPSHOT_SANDBOX_PORT: '0', UPSHOT_SANDBOX_DOWNLOAD_PORT: '0' })
  const app = spawn(process.execPath, ['src/app/main.js'], { cwd: ROOT, env, stdio: 'ignore' })
  const upshot = (...args: string[]) => run(['src/cli/main.js', ...args], env)
  try {
    for (let tries = 0; tries < 60 && (await upshot('status')).code !== 0; tries++) await pause(500)
    for (const event of EVENTS) await upshot('trigger', event)
    const { text } = await upshot('dashboard', '--no-open', '--json')
    await photograph(JSON.parse(text).data.url)
  } finally {
    app.kill()
    await once(app, 'exit')
    rmSync(data, { recursive: true, force: true })
  }
}

async function photograph(link: string): Promise<void> {
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true })
  const browser = await chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] })
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'light' })
  await page.goto(link)
  await page.getByRole('table').waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await page.screenshot({ path: PICTURE })
  await browser.close()
}

async function run(args: string[], env: NodeJS.ProcessEnv): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'ignore'] })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  const [code] = await once(child, 'close')
  return { code, text }
}

await takePicture()
