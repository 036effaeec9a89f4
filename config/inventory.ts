export const inventory = {
  /** Minute, hour, day of month, month, day of week. */
  schedule: '0 3 * * *',
  /** IANA name of the time zone, such as Europe/Berlin. */
  timezone: 'UTC',
}
