import { resolve } from 'node:path'
import type { Duration } from 'upshot'

/** Rules for the deletion of sources. Everything else is left alone. */
export const cleanup = {
  /** Only sources below these folders are deleted, in any storage. */
  folders: ['/outbox'],
  /** Time between the proof of a copy and the deletion of its source. */
  grace: '15m' as Duration,
  /** Larger files are kept: comparing contents takes two downloads. */
  maxBytes: 256 * 1024 ** 2,
  /** Downloads to compare. Each is removed after its comparison. */
  workFolder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'work'),
  /**
   * A rehearsal logs each deletion and deletes nothing. Set CLEANUP_DELETES=yes once you agree with
   * its log.
   */
  isRehearsal: process.env.CLEANUP_DELETES !== 'yes',
}
