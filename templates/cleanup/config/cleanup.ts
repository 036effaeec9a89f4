import { resolve } from 'node:path'

/** What may be deleted, and when. Everything else is left alone. */
export const cleanup = {
  /** Only sources below these folders, in any storage. */
  folders: ['/outbox'],
  /** How long a copy must have been verified before its source goes. */
  grace: '15m',
  /** Larger files are kept: comparing contents takes two downloads. */
  largestBytes: 256 * 1024 ** 2,
  /** Copies that are being compared; removed again. */
  workFolder: resolve(process.env.UPSHOT_DATA_DIR || 'data', 'work'),
  /**
   * A rehearsal says what it would delete, and deletes nothing. Set CLEANUP_DELETES=yes once you
   * agree with what it says.
   */
  isRehearsal: process.env.CLEANUP_DELETES !== 'yes',
}
