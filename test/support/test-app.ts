import { onTestFinished } from 'vitest'
import { App } from '../../src/app/app.ts'
import type { AppParts } from '../../src/app/open-parts.ts'
import type { Notice, NoticeKind, NoticeOf } from '../../src/core/notices.ts'
import { createNoticeBus } from '../../src/notices/notice-bus.ts'
import type { Config } from '../../src/project/config/load-config.ts'
import { openStore } from '../../src/store/open-store.ts'
import { tempFolder } from './temp-folder.ts'
import { testConfig } from './test-config.ts'

/** A bus, and what it tells. */
export function hearNotices() {
  const notices = createNoticeBus()
  const heard: Notice[] = []
  notices.subscribe('*', (notice) => heard.push(notice))
  /** The first notice that fits, already published or still to come. */
  async function hear<Kind extends NoticeKind>(
    kind: Kind,
    fits: (notice: NoticeOf<Kind>) => boolean = () => true,
  ): Promise<NoticeOf<Kind>> {
    const known = heard.find((notice) => notice.kind === kind && fits(notice as never))
    return (known as never) ?? notices.once(kind, fits)
  }
  return { notices, heard, hear }
}

/**
 * Starts the whole app with its sandbox on free ports; it is stopped after the test. Its store is
 * on this thread, as two threads more would be half of the time of a start.
 */
export async function startTestApp(
  parts: Partial<AppParts> = {},
  { dataDir = tempFolder(), config = {} }: { dataDir?: string; config?: Partial<Config> } = {},
) {
  const { notices, heard, hear } = hearNotices()
  const app = await App.create(testConfig(dataDir, config), { workflows: [], notices, openStore, ...parts })
  onTestFinished(() => app.stop())
  const urls = await app.start()
  if (!app.sandbox) throw new Error('the app was to start a sandbox')
  return { app, urls, sandbox: app.sandbox, dataDir, heard, hear }
}
