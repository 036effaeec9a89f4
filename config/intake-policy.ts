export const intakePolicy = {
  /** Only files below these folders, in any storage, are looked at. All others are left alone. */
  folders: ['/inbox'],
  /**
   * Files with such a name are deleted. A file system may drop dots and spaces at the end, so they
   * are no way around.
   */
  forbiddenNames: [/\.(bat|cmd|com|exe|js|msi|ps1|scr|vbs)[. ]*$/i, /^(desktop\.ini|thumbs\.db)$/i],
  /** Larger files are deleted, too. */
  largestBytes: 1024 ** 3,
}
