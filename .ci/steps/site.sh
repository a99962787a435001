# The documentation: every page, link and anchor, and each page in a browser.
source .ci/common.sh
if ! python3 -c "import sys; sys.exit(sys.version_info < (3, 11))"; then
  echo "left out: the tools of the extra 'docs' need Python 3.11"
  exit
fi
use_tools
use_system chromium chromium
# Ruff formats the signatures of the reference.
make_environment axe-playwright-python playwright ruff "$(ioukit docs)"
# Strict: a page, link or anchor that leads nowhere fails (not under --quiet, which also silences what strict counts).
# The variable silences an announcement.
NO_MKDOCS_2_WARNING=1 mkdocs build --strict --site-dir "$scratch/site"
python docs/build/site/check.py "$scratch/site"
python docs/build/site/audit.py "$scratch/site"
