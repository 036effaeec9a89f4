export const intakePolicy = {
  /** Folders of every storage whose new files are checked. Files elsewhere are left alone. */
  folders: ['/inbox'],
  /**
   * Files with such a name are deleted. Dots and spaces at the end do not help: some file systems
   * drop them.
   */
  forbiddenNames: [/\.(bat|cmd|com|exe|js|msi|ps1|scr|vbs)[. ]*$/i, /^(desktop\.ini|thumbs\.db)$/i],
  /** Larger files are deleted, too. */
  maxBytes: 1024 ** 3,
}
