import { onTestFinished } from 'vitest'
import { App } from '../../src/app/app.ts'
import type { AppUrls } from '../../src/app/app-urls.ts'
import type { AppParts } from '../../src/app/open-parts.ts'
import type { Notice, NoticeKind, NoticeOf } from '../../src/core/notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import type { Sandbox } from '../../src/sandbox/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { tempFolder } from './temp-folder.ts'
import { testConfig } from './test-config.ts'

interface TestApp {
  app: App
  urls: AppUrls
  sandbox: Sandbox
  dataDir: string
  heard: Notice[]
  /** The first notice that fits, already published or still to come. */
  hear<Kind extends NoticeKind>(kind: Kind, fits?: (notice: NoticeOf<Kind>) => boolean): Promise<NoticeOf<Kind>>
}

/**
 * Starts the whole app with its sandbox on free ports; it is stopped after the test. Its store is
 * on this thread, as two threads more would be half of the time of a start.
 */
export async function startTestApp(
  parts: Partial<AppParts> = {},
  { dataDir = tempFolder(), config = {} }: { dataDir?: string; config?: Partial<Config> } = {},
): Promise<TestApp> {
  const notices = createNoticeBus()
  const heard: Notice[] = []
  notices.subscribe('*', (notice) => heard.push(notice))
  const app = await App.create(testConfig(dataDir, config), { workflows: [], notices, openStore, ...parts })
  onTestFinished(() => app.stop())
  const urls = await app.start()
  if (!app.sandbox) throw new Error('the app was to start a sandbox')
  return {
    app,
    urls,
    sandbox: app.sandbox,
    dataDir,
    heard,
    async hear(kind, fits = () => true) {
      const known = heard.find((notice) => notice.kind === kind && fits(notice as never))
      return (known as never) ?? notices.once(kind, fits)
    },
  }
}
